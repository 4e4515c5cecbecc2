import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRetention } from '../../../engine/src/cluster/retention/retention.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource, type SourceState } from '../../support/source-rows.ts';

const DAY_MS = 24 * 3600 * 1000;
const NOW_MS = Date.UTC(2026, 5, 1);

let database: TestDatabase;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  const { sql } = database.db;
  await sql`delete from deliveries`;
  await sql`delete from events`;
  await sql`delete from runs`;
  await sql`delete from missed_events`;
  await sql`delete from accounts`;
  accountId = await account({});
});

const account = (limits: object) => insertAccount(database.db.sql, limits);
const source = (owner = accountId, state: SourceState = {}) => insertSource(database.db.sql, owner, state);

/** `ages` in days. */
async function events(emitterId: string, ages: readonly number[], owner = accountId): Promise<void> {
  const ms = ages.map((age) => NOW_MS - age * DAY_MS);
  await database.db.sql`
    insert into events (emitter_id, indexed_at_ms, seq, account_id, channel, data)
    select ${emitterId}, ms, n, ${owner}, '', '1' from unnest(${ms}::int8[]) with ordinality as e(ms, n)`;
}

async function runs(sourceId: string, ages: readonly number[]): Promise<void> {
  for (const age of ages) {
    const atMs = NOW_MS - age * DAY_MS;
    await database.db.sql`
      insert into runs (id, account_id, source_id, kind, status, logs, started_at, ended_at)
      values (${newId('invocation', atMs)}, ${accountId}, ${sourceId}, 'http', 'ok', '[]',
        to_timestamp(${atMs}::float8 / 1000), to_timestamp(${atMs}::float8 / 1000))`;
  }
}

async function deliveries(webhookId: string, ages: readonly number[], status = 'delivered'): Promise<void> {
  for (const age of ages) {
    await database.db.sql`
      insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status)
      values (${newId('delivery', NOW_MS - age * DAY_MS)}, ${accountId}, ${webhookId}, 'dc_x', 1, 0, ${status})`;
  }
}

/** Turns until there is nothing to do, and one round more. */
async function clean(defaultDays = 30): Promise<number> {
  const turn = createRetention({ sql: database.db.sql, defaultDays, defaultVersions: 20, nowMs: () => NOW_MS });
  let turns = 1;
  while ((await turn()) !== 'nothing') turns++;
  await turn();
  return turns;
}

async function agesOf(emitterId: string): Promise<number[]> {
  const rows = await database.db.sql<{ ms: number }[]>`
    select indexed_at_ms as ms from events where emitter_id = ${emitterId} order by 1 desc`;
  return rows.map(({ ms }) => (NOW_MS - ms) / DAY_MS);
}

async function count(table: 'runs' | 'deliveries'): Promise<number> {
  return (await database.db.sql`select from ${database.db.sql(table)}`).length;
}

test('events older than the account keeps them are deleted, and no younger one', async () => {
  const [one, other] = [await source(), await source()];
  await events(one, [0, 29, 29.99, 30.01, 31, 400]);
  await events(other, [1, 30.5]);
  await clean();
  expect([await agesOf(one), await agesOf(other)]).toEqual([[0, 29, 29.99], [1]]);
});

test('an account can keep its history longer, shorter or for ever; 0 as the default keeps all', async () => {
  const kept = { short: 1, long: 365, always: 0 };
  const made = new Map<string, string>();
  for (const [name, days] of Object.entries(kept)) {
    const owner = await account({ eventRetentionDays: days });
    const id = await source(owner);
    made.set(name, id);
    await events(id, [0.5, 20, 300, 2_000], owner);
  }
  const plain = await source();
  await events(plain, [20, 300]);
  await clean();
  const left = await Promise.all([...made.values(), plain].map(agesOf));
  expect(left).toEqual([[0.5], [0.5, 20, 300], [0.5, 20, 300, 2_000], [20]]);
  await clean(0);
  expect(await agesOf(plain)).toEqual([20]);
});

test('events of a deleted source go as well', async () => {
  const gone = await source(accountId, { deleted: true });
  await events(gone, [1, 31]);
  await clean();
  expect(await agesOf(gone)).toEqual([1]);
});

test('records of runs go with the events of their time', async () => {
  const id = await source();
  await runs(id, [1, 29, 31, 100]);
  await clean();
  expect(await count('runs')).toBe(2);
});

test('lines that were shown while runs went on go with the records of their time', async () => {
  const id = await source();
  for (const age of [40, 31, 29, 0]) {
    await database.db.sql`
      insert into live_lines (id, account_id, emitter_id, run_id, first_line, logs, at_ms, seq)
      values (${`${id}.${age}`}, ${accountId}, ${id}, ${`inv_${age}`}, 0, '[]', ${NOW_MS - age * DAY_MS}, 0)`;
  }
  await clean();
  const left = await database.db.sql<{ run_id: string }[]>`
    select run_id from live_lines where emitter_id = ${id} order by at_ms`;
  expect(left.map((row) => row.run_id)).toEqual(['inv_29', 'inv_0']);
});

test('deliveries that have ended go, of deleted webhooks too; pending ones stay', async () => {
  await deliveries('wh_one', [1, 40, 50]);
  await deliveries('wh_one', [45], 'pending');
  await deliveries('wh_two', [31], 'failed');
  await deliveries('wh_two', [29, 31], 'cancelled');
  await clean();
  const rows = await database.db.sql`select webhook_id, status from deliveries order by webhook_id, id desc`;
  expect(rows.map((row) => `${row['webhook_id']} ${row['status']}`)).toEqual([
    'wh_one delivered',
    'wh_one pending',
    'wh_two cancelled',
  ]);
});

test('a large backlog goes in bounded turns, and two nodes at once delete each row once', async () => {
  const ids = [await source(), await source(), await source()];
  for (const id of ids)
    await events(
      id,
      Array.from({ length: 1_200 }, (_, i) => 31 + i / 100),
    );
  const turns = await Promise.all([clean(), clean()]);
  expect(Math.max(...turns)).toBeGreaterThan(1);
  for (const id of ids) expect(await agesOf(id)).toEqual([]);
});

test('every source has its turn, however many there are', async () => {
  const ids = await Promise.all(Array.from({ length: 450 }, () => source()));
  for (const id of ids) await events(id, [31]);
  const turn = createRetention({ sql: database.db.sql, defaultDays: 30, defaultVersions: 20, nowMs: () => NOW_MS });
  for (let i = 0; i < 3; i++) await turn();
  expect((await database.db.sql`select from events`).length).toBe(0);
});

test('notes of missed events are kept as long as events', async () => {
  const forEver = await account({ eventRetentionDays: 0 });
  const [one, short, long] = [
    await source(),
    await source(await account({ eventRetentionDays: 2 })),
    await source(forEver),
  ];
  for (const id of [one, short, long]) {
    for (const age of [1, 3, 29, 31, 100]) {
      await database.db.sql`
        insert into missed_events (emitter_id, ms, seq, account_id, reason, channel, emit_ids, missed)
        values (${id}, ${NOW_MS - age * DAY_MS}, 0, ${accountId}, 'deduped', '', '[]', 1)`;
    }
  }
  await clean();
  const rows = await database.db.sql<{ emitter_id: string; left: number }[]>`
    select emitter_id, count(*)::int4 as left from missed_events group by emitter_id`;
  const left = new Map(rows.map((row) => [row.emitter_id, row.left]));
  expect([left.get(one), left.get(short), left.get(long)]).toEqual([3, 1, 5]);
});
