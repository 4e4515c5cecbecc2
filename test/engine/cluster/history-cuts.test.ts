import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createHistory, startHistory } from '../../../engine/src/cluster/retention/history.ts';
import { createRetention } from '../../../engine/src/cluster/retention/retention.ts';
import { deleteEvents } from '../../../engine/src/observe/search/delete-events.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { fc } from '../../support/properties.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

const PART_MS = LIMITS.historyPartMs;
const MB = 1024 * 1024;
const DAY_MS = 24 * 3600 * 1000;

let database: TestDatabase;
let nowMs: number;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  nowMs = Date.UTC(2026, 5, 1);
  await sql()`delete from accounts`;
});

const sql = () => database.db.sql;

/** A node's counts; all nodes have the same clock. */
function node(onCut: (bytes: number) => void = () => undefined) {
  const options = { defaultBytes: 20 * MB, defaultDays: 30, nowMs: () => nowMs, onCut, log: testLog };
  return createHistory({ ...options, sql: sql() });
}

/** Retention of everything that is to go now. */
async function clean(): Promise<void> {
  const turn = createRetention({ sql: sql(), defaultDays: 30, defaultVersions: 20, nowMs: () => nowMs });
  while ((await turn()) !== 'nothing');
}

const partsOf = (accountId: string) => sql()<{ began_ms: number; bytes: number }[]>`
  select began_ms, bytes from history_parts where account_id = ${accountId} order by began_ms`;

async function historyOf(accountId: string): Promise<{ bytes: number; kept_from_ms: number } | undefined> {
  const [row] = await sql()<{ bytes: number; kept_from_ms: number }[]>`
    select bytes, kept_from_ms from account_histories where account_id = ${accountId}`;
  return row && { ...row };
}

async function insertEvent(accountId: string, emitterId: string, data = '1'): Promise<void> {
  await sql()`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    values (${emitterId}, ${nowMs}, 0, ${accountId}, '', ${data})`;
}

async function insertDelivery(accountId: string, webhookId: string, status = 'delivered'): Promise<void> {
  await sql()`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
    values (${newId('delivery', nowMs)}, ${accountId}, ${webhookId}, 'dc_x', ${nowMs}, 0, ${status})`;
}

async function timesOf(accountId: string): Promise<{ events: number[]; deliveries: number }> {
  const events = await sql()<{ ms: number }[]>`
    select indexed_at_ms as ms from events where account_id = ${accountId} order by 1`;
  const deliveries = await sql()`select from deliveries where account_id = ${accountId}`;
  return { events: events.map(({ ms }) => ms), deliveries: deliveries.length };
}

test('the oldest rows of all emitters and webhooks go first, and pending rows and rows of others stay', async () => {
  const [mine, other] = [await insertAccount(sql(), { maxHistoryBytes: MB }), await insertAccount(sql())];
  const emitters = [await insertSource(sql(), mine), await insertSource(sql(), mine)];
  const theirs = await insertSource(sql(), other);
  const cuts: number[] = [];
  const counts = node((bytes) => cuts.push(bytes));
  const startMs = nowMs;
  for (let minute = 0; minute < 6; minute++, nowMs += PART_MS) {
    await insertEvent(mine, emitters[minute % 2] as string);
    await insertDelivery(mine, `wh_${minute % 2}`);
    await insertDelivery(mine, 'wh_pending', 'pending');
    await insertEvent(other, theirs);
    counts.add(mine, MB / 4);
    counts.add(other, 3 * MB);
    await counts.turn();
  }
  await clean();
  const kept = [2, 3, 4, 5].map((minute) => startMs + minute * PART_MS);
  expect(await timesOf(mine)).toEqual({ events: kept, deliveries: 4 + 6 });
  expect((await timesOf(other)).events).toHaveLength(6);
  expect(await historyOf(mine)).toEqual({ bytes: MB, kept_from_ms: kept[0] });
  expect(await historyOf(other)).toEqual({ bytes: 18 * MB, kept_from_ms: 0 });
  expect(cuts).toEqual([MB / 4, MB / 4]);
});

test('traces of callers go with the history of their account, and at their own age they count no more', async () => {
  const [cut, kept] = [
    await insertAccount(sql(), { maxHistoryBytes: MB }),
    await insertAccount(sql(), { eventRetentionDays: 0 }),
  ];
  for (const id of [cut, kept]) await insertSource(sql(), id);
  const counts = node();
  const insertTrace = (accountId: string, id: string) => sql()`
    insert into trace_contexts (id, account_id, traceparent, tracestate, created_at)
    values (${id}, ${accountId}, ${'t'.repeat(55)}, 'a=1', to_timestamp(${nowMs / 1000}::float8))`;
  const ROW = LIMITS.historyRowBytes + 55 + 3;
  const tracesOf = async (accountId: string) =>
    (await sql()`select id from trace_contexts where account_id = ${accountId} order by id`).map(({ id }) => id);

  // Retention of traces by their own age goes by the clock of the database.
  nowMs = Date.now() - (LIMITS.traceContextKeptDays + 1) * DAY_MS;
  await insertTrace(kept, 'inv_old');
  await insertTrace(kept, 'inv_older');
  counts.add(kept, 2 * ROW + 1_000);
  await counts.turn();
  nowMs = Date.now() - 2 * PART_MS;
  await insertTrace(kept, 'inv_kept');
  counts.add(kept, ROW);
  await insertTrace(cut, 'inv_cut');
  counts.add(cut, MB);
  await counts.turn();
  nowMs += PART_MS;
  await insertTrace(cut, 'inv_new');
  counts.add(cut, ROW);
  await counts.turn();
  await clean();
  expect([await tracesOf(cut), await tracesOf(kept)]).toEqual([['inv_new'], ['inv_kept']]);
  expect((await historyOf(cut))?.bytes).toBe(ROW);
  expect((await historyOf(kept))?.bytes).toBe(1_000 + ROW);
});

test('history that is kept for ever is cut as well, the rows from before counting first', async () => {
  const id = await insertAccount(sql(), { maxHistoryBytes: MB, eventRetentionDays: 0 });
  const emitter = await insertSource(sql(), id);
  nowMs -= 400 * DAY_MS;
  await insertEvent(id, emitter);
  nowMs += 400 * DAY_MS;
  await clean();
  expect((await timesOf(id)).events).toHaveLength(1);
  const counts = node();
  for (let minute = 0; minute < 2; minute++, nowMs += PART_MS) {
    counts.add(id, MB);
    await insertEvent(id, emitter);
  }
  await counts.turn();
  await clean();
  expect((await timesOf(id)).events).toEqual([nowMs - PART_MS]);
});

test('nodes that count and cut at the same time lose nothing and cut nothing twice', async () => {
  const ids = await Promise.all([1, 2, 3].map(() => insertAccount(sql(), { maxHistoryBytes: MB })));
  const cuts: number[] = [];
  const nodes = Array.from({ length: 4 }, () => node((bytes) => cuts.push(bytes)));
  let written = 0;
  for (let minute = 0; minute < 12; minute++, nowMs += PART_MS) {
    for (const [n, { add }] of nodes.entries()) {
      // Each has seen them in another order.
      for (const id of n % 2 === 0 ? ids : ids.toReversed()) {
        add(id, 100_000 + n);
        written += 100_000 + n;
      }
    }
    await Promise.all(nodes.map(({ turn }) => turn()));
  }
  let kept = 0;
  for (const id of ids) {
    const [history, parts] = [await historyOf(id), await partsOf(id)];
    expect(history?.bytes).toBe(parts.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(history?.bytes).toBeLessThanOrEqual(MB);
    expect(history?.kept_from_ms).toBe(parts[0]?.began_ms);
    expect(parts).toHaveLength(2);
    kept += history?.bytes ?? 0;
  }
  expect(kept + cuts.reduce((sum, bytes) => sum + bytes, 0)).toBe(written);
});

test('counts that could not be stored are stored the next time, also beside those of a deleted account', async () => {
  const [id, gone] = [await insertAccount(sql()), await insertAccount(sql())];
  const counts = node();
  counts.add(id, 1_000);
  counts.add(gone, 1_000);
  await sql()`alter table history_parts rename to elsewhere`;
  await expect(counts.turn()).rejects.toThrow('history_parts');
  await sql()`alter table elsewhere rename to history_parts`;
  counts.add(id, 500);
  await sql()`delete from accounts where id = ${gone}`;
  await counts.turn();
  await counts.turn();
  expect((await historyOf(id))?.bytes).toBe(1_500);
  expect(await historyOf(gone)).toBeUndefined();
});

test('a node that stops stores its counts', async () => {
  const id = await insertAccount(sql());
  const defaults = { defaultBytes: 20 * MB, defaultDays: 30, onCut: () => undefined };
  const { add, stop } = startHistory({ sql: sql(), ...defaults, nowMs: () => nowMs, log: testLog });
  add(id, 1_000);
  await stop();
  expect((await historyOf(id))?.bytes).toBe(1_000);
});

test('events that are deleted by hand give room for as much, and never for more than was counted', async () => {
  const id = await insertAccount(sql(), { maxHistoryBytes: MB });
  const [first, second] = [await insertSource(sql(), id), await insertSource(sql(), id)];
  const counts = node();
  for (const emitter of [first, second]) {
    await insertEvent(id, emitter, `"${'x'.repeat(500_000 - 2)}"`);
    counts.add(id, 500_000 + LIMITS.historyRowBytes);
    nowMs += PART_MS;
  }
  await counts.turn();
  await deleteEvents(sql(), id, first, {});
  expect((await historyOf(id))?.bytes).toBe(500_000 + LIMITS.historyRowBytes);
  counts.add(id, 500_000);
  await counts.turn();
  await clean();
  expect((await timesOf(id)).events).toHaveLength(1);
  // This event was never counted.
  await insertEvent(id, first, `"${'x'.repeat(2_000_000)}"`);
  await deleteEvents(sql(), id, first, {});
  expect((await partsOf(id)).map(({ bytes }) => bytes)).toEqual([0, 500_000 + LIMITS.historyRowBytes, 0]);
  expect((await historyOf(id))?.bytes).toBe(500_000 + LIMITS.historyRowBytes);
});

test('without new writes expired bytes count no more, and a lowered limit holds', async () => {
  const [old, lowered] = [await insertAccount(sql(), { eventRetentionDays: 2 }), await insertAccount(sql())];
  const counts = node();
  for (const bytes of [1_000, 200]) {
    counts.add(old, bytes);
    counts.add(lowered, 2 * MB);
    await counts.turn();
    nowMs += DAY_MS;
  }
  await sql()`update accounts set limits = '{"maxHistoryBytes":2097152}' where id = ${lowered}`;
  nowMs += PART_MS;
  await counts.turn();
  expect((await partsOf(old)).map(({ bytes }) => bytes)).toEqual([200]);
  expect(await historyOf(old)).toEqual({ bytes: 200, kept_from_ms: 0 });
  expect((await historyOf(lowered))?.bytes).toBe(2 * MB);
});

test('history in any order of writes keeps the newest parts within the limit, and at least the newest part', async () => {
  const step = fc.record({
    laterMs: fc.constantFrom(0, 0, 1_000, PART_MS, 5 * PART_MS),
    kilobytes: fc.integer({ min: 1, max: 1_500 }),
    node: fc.integer({ min: 0, max: 1 }),
    turn: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const id = await insertAccount(sql(), { maxHistoryBytes: MB });
      const nodes = [node(), node()];
      const written = new Map<number, number>();
      const flush = async () => {
        for (const { turn } of nodes) await turn();
        const parts = await partsOf(id);
        const sum = parts.reduce((bytes, part) => bytes + part.bytes, 0);
        expect(parts.length <= 1 || sum <= MB).toBe(true);
        const newest = [...written].sort(([a], [b]) => a - b).slice(written.size - parts.length);
        expect(parts.map((part) => [part.began_ms, part.bytes])).toEqual(newest);
        const { bytes = 0, kept_from_ms: keptFromMs = 0 } = (await historyOf(id)) ?? {};
        const isCut = parts.length < written.size;
        expect([bytes, keptFromMs]).toEqual([sum, isCut ? parts[0]?.began_ms : 0]);
      };
      for (const { laterMs, kilobytes, node: at, turn } of steps) {
        nowMs += laterMs;
        const beganMs = nowMs - (nowMs % PART_MS);
        nodes[at]?.add(id, kilobytes * 1024);
        written.set(beganMs, (written.get(beganMs) ?? 0) + kilobytes * 1024);
        if (turn) await flush();
      }
      await flush();
      await sql()`delete from accounts where id = ${id}`;
    }),
    { numRuns: 40 },
  );
});
