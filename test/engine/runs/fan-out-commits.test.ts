import { idTimeMs, newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { planCommit, type RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { type CommitOptions, commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';

let database: TestDatabase;
let accountId: string;
let emitterId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  accountId = await insertAccount(database.db.sql);
  emitterId = await insertSource(database.db.sql, accountId);
});

/** For this many listeners, these events are more rows than a node writes in one commit. */
const EVENTS = 60;
const LISTENERS = 20;

async function listen(listenerId: string, channel = ''): Promise<string> {
  await database.db.sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    values (${newId('subscription')}, ${accountId}, ${emitterId}, ${listenerId}, ${channel})`;
  return listenerId;
}

async function webhooks(count: number, channel = ''): Promise<string[]> {
  const { sql } = database.db;
  const userId = newId('user');
  await sql`insert into users (id, account_id, username) values (${userId}, ${accountId}, ${userId})`;
  return Promise.all(
    Array.from({ length: count }, async () => {
      const id = newId('webhook');
      await sql`
        insert into webhooks (id, account_id, user_id, url, format, secret)
        values (${id}, ${accountId}, ${userId}, 'http://127.0.0.1:9/', 'raw', 'sealed')`;
      return listen(id, channel);
    }),
  );
}

const sources = (count: number, channel = '') =>
  Promise.all(
    Array.from({ length: count }, async () => listen(await insertSource(database.db.sql, accountId), channel)),
  );

async function commit(emits: readonly { data: string; name?: string }[], options: Partial<CommitOptions> = {}) {
  const id = newId('invocation');
  await database.db.sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    values (${id}, ${accountId}, ${emitterId}, 'http', '{}', 'node_a')`;
  const run: RunCommit = {
    accountId,
    sourceId: emitterId,
    invocation: { id, leasedBy: 'node_a', claim: 1 },
    final: true,
    dedupe: undefined,
    emits: emits.map((emit) => ({ ...emit, emittedAtMs: 1 })),
    dbWrites: new Map(),
  };
  const [committed] = await commitRuns(database.db.sql, [run], {
    nodeId: 'node_a',
    deliveryCapacity: () => 10_000,
    runCapacity: () => 10_000,
    nowMs: Date.now,
    ...options,
  });
  return { id, committed };
}

const numbers = (count: number, name?: string) =>
  Array.from({ length: count }, (_, n) => ({ data: String(n), ...(name === undefined ? {} : { name }) }));

const invocationsOf = (sourceId: string) =>
  database.db.sql<
    {
      id: string;
      event: string;
      caused_by: string;
      trace_id: string;
      hops: number;
      leased_by: string | null;
      place: number | null;
    }[]
  >`select id, event, caused_by, trace_id, hops, leased_by, place from invocations where source_id = ${sourceId} order by id`;

test('each webhook gets each event once, under an id of its own that carries the time of the event', async () => {
  const ids = await webhooks(LISTENERS);
  const { committed } = await commit(numbers(EVENTS));
  expect(committed).toMatchObject({ events: EVENTS, deliveries: [], invocations: [] });
  const rows = await database.db.sql<{ id: string; webhook_id: string; indexed_at_ms: number; seq: number }[]>`
    select id, webhook_id, indexed_at_ms, seq from deliveries where account_id = ${accountId} and leased_by is null
    and status = 'pending' and emitter_id = ${emitterId} order by webhook_id, seq`;
  expect(rows.map(({ webhook_id: id, seq }) => `${id} ${seq}`)).toEqual(
    ids.toSorted().flatMap((id) => numbers(EVENTS).map(({ data }) => `${id} ${data}`)),
  );
  expect(new Set(rows.map(({ id }) => id)).size).toBe(EVENTS * LISTENERS);
  expect(rows.filter((row) => idTimeMs(row.id) !== row.indexed_at_ms)).toEqual([]);
  // One job for all of them.
  const keys = [accountId, ...ids].map((id) => `deliver:${id}:now`);
  const lanes = await database.db.sql`select key from graphile_worker.jobs where key = any(${keys}::text[])`;
  expect(lanes).toEqual([{ key: `deliver:${accountId}:now` }]);
});

test('each source and workflow that listens is run for each event, in the order of the events', async () => {
  const ids = await sources(LISTENERS);
  const { id: workflowId } = await insertWorkflow(database.db.sql, { accountId, steps: [] });
  await listen(workflowId);
  const { id: traceId } = await commit(numbers(EVENTS));
  for (const id of [...ids, workflowId]) {
    const rows = await invocationsOf(id);
    expect(rows.map(({ event }) => event)).toEqual(numbers(EVENTS).map(({ data }) => data));
    expect(rows.filter((row) => row.trace_id !== traceId || row.hops !== 1 || row.leased_by !== null)).toEqual([]);
    expect(new Set(rows.map((row) => row.caused_by)).size).toBe(EVENTS);
  }
  const executions = await invocationsOf(workflowId);
  expect(executions.filter(({ id }) => idTimeMs(id) === undefined || !id.startsWith('exec_'))).toEqual([]);
  const places = executions.map(({ place }) => Number(place));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(new Set(places).size).toBe(EVENTS);
});

test('an event is heard on its own channel alone', async () => {
  const [loud, quiet] = [await webhooks(LISTENERS, 'loud'), await sources(LISTENERS, 'quiet')];
  await commit([...numbers(EVENTS, 'loud'), ...numbers(EVENTS, 'quiet'), { data: '"nobody"' }]);
  const [counts] = await database.db.sql`
    select (select count(*)::int from deliveries where webhook_id = any(${loud}::text[])) as loud,
      (select count(*)::int from invocations where source_id = any(${quiet}::text[])) as quiet`;
  expect(counts).toEqual({ loud: EVENTS * LISTENERS, quiet: EVENTS * LISTENERS });
});

test('filters hold where the database makes the rows', async () => {
  const [all, even] = [await sources(LISTENERS), await sources(LISTENERS)];
  const { sql } = database.db;
  const filter = JSON.stringify({ n: { $in: numbers(EVENTS).flatMap((_, n) => (n % 2 === 0 ? [n] : [])) } });
  await sql`update subscriptions set filter = ${filter} where listener_id = any(${even}::text[])`;
  await commit(numbers(EVENTS).map((_, n) => ({ data: JSON.stringify({ n }) })));
  const eventsOf = async (id: string) => (await invocationsOf(id)).map(({ event }) => JSON.parse(event).n as number);
  for (const id of all) expect(await eventsOf(id)).toEqual(Array.from({ length: EVENTS }, (_, n) => n));
  for (const id of even) expect(await eventsOf(id)).toEqual(Array.from({ length: EVENTS / 2 }, (_, n) => 2 * n));
});

test('a large event is stored for each that hears it, and in the plan of its commit it is once', async () => {
  const ids = await sources(100);
  const emits = [{ data: JSON.stringify('x'.repeat(512 * 1024)), emittedAtMs: 1 }];
  await commit(emits);
  const [row] = await database.db.sql`
    select count(*)::int as count, min(octet_length(event)) as bytes from invocations where source_id = any(${ids}::text[])`;
  expect(row).toEqual({ count: 100, bytes: emits[0]?.data.length });
  const run = { accountId, sourceId: emitterId, final: true, dedupe: undefined, emits, dbWrites: new Map() };
  const state = { last: { ms: 0, seq: 0 }, dedupe: undefined, db: { bytes: 0, byKey: new Map() } };
  const listeners = ids.map((sourceId) => ({ kind: 'source' as const, accountId, emitterId, channel: '', sourceId }));
  const plan = planCommit([run], new Map([[emitterId, state]]), listeners, Date.now());
  expect(plan).toMatchObject({ invocations: [], fanOuts: [{ events: [{}], sourceIds: new Map([['', ids]]) }] });
});

test('events without room are stored without deliveries, a note names the listeners that missed them, and the run fails with the limit', async () => {
  const [[webhook], [source]] = [await webhooks(1), await sources(1)];
  const limit = { name: 'maxQueuedDeliveries' as const, value: 10, used: 12 };
  const asked: unknown[] = [];
  const backlogs = {
    exceeded: (account: string, more: unknown) => {
      asked.push([account, more]);
      return limit;
    },
    isFull: () => false,
    mayHold: () => true,
    add: () => undefined,
  };
  const { committed } = await commit(numbers(3), { backlogs });
  expect(asked).toEqual([[accountId, { invocations: 3, chars: 3, deliveries: 3, held: 0 }]]);
  expect(committed).toMatchObject({ events: 3, deliveries: [], invocations: [], exceeded: limit });
  expect(await invocationsOf(source as string)).toEqual([]);
  const missed = await database.db.sql`
    select listener_id, reason, from_seq, to_seq, missed from missed_events where emitter_id = ${emitterId} order by listener_id`;
  expect(missed).toEqual(
    [webhook ?? '', source ?? '']
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map((id) => ({ listener_id: id, reason: 'backlog_full', from_seq: 0, to_seq: 2, missed: 3 })),
  );
});

test('a webhook for which too much waits gets no more, a note says so, and the others and the run go on', async () => {
  const [full, open] = await webhooks(2);
  const backlogs = {
    exceeded: () => undefined,
    isFull: (account: string, id: string) => account === accountId && id === full,
    mayHold: () => true,
    add: () => undefined,
  };
  const { committed } = await commit(numbers(2), { backlogs });
  expect(committed).toMatchObject({ events: 2 });
  expect(committed?.exceeded).toBeUndefined();
  const heard = await database.db.sql`select webhook_id from deliveries where emitter_id = ${emitterId}`;
  expect(heard).toEqual([{ webhook_id: open }, { webhook_id: open }]);
  expect(
    await database.db.sql`select listener_id, reason, missed from missed_events where emitter_id = ${emitterId}`,
  ).toEqual([{ listener_id: full, reason: 'backlog_full', missed: 2 }]);
});

test('deliveries of one commit count for the next run in it, and waiting ones are reported', async () => {
  await webhooks(1);
  const added: unknown[] = [];
  const asked: number[] = [];
  const backlogs = {
    exceeded: (_: string, more: { deliveries: number }) => void asked.push(more.deliveries),
    isFull: () => false,
    mayHold: () => true,
    add: (account: string, more: unknown) => void added.push([account, more]),
  };
  const runs = [2, 3].map(
    (count): RunCommit => ({
      accountId,
      sourceId: emitterId,
      final: true,
      dedupe: undefined,
      emits: numbers(count).map((emit) => ({ ...emit, emittedAtMs: 1 })),
      dbWrites: new Map(),
    }),
  );
  const options = { nodeId: 'node_a', deliveryCapacity: () => 1, runCapacity: () => 0, nowMs: Date.now, backlogs };
  await commitRuns(database.db.sql, runs, options);
  expect(asked).toEqual([2, 5]);
  expect(added).toEqual([[accountId, { invocations: 0, chars: 0, deliveries: 4, held: 0 }]]);
});
