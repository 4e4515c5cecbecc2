import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunCommit } from '../../../engine/src/runs/commit/commit-plan.ts';
import { claimInvocations } from '../../../engine/src/runs/invocations.sql.ts';
import { type CommittedRun, commitRuns } from '../../../engine/src/runs/commit/commit-runs.sql.ts';
import { readListeners } from '../../../engine/src/runs/commit/read-listeners.sql.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let database: TestDatabase;
let accountId: string;
let emitterId: string;
let listenerId: string;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(async () => {
  const { sql } = database.db;
  accountId = await insertAccount(sql);
  emitterId = await insertSource(sql, accountId);
  listenerId = await insertSource(sql, accountId);
  await subscribe(emitterId, listenerId);
});

async function subscribe(emitter: string, listener: string, channel = ''): Promise<void> {
  await database.db.sql`
    insert into subscriptions (id, account_id, emitter_id, listener_id, event_name)
    values (${newId('subscription')}, ${accountId}, ${emitter}, ${listener}, ${channel})`;
}

/** An invocation of the emitter that `leasedBy` holds. */
async function invocation(leasedBy: string): Promise<{ id: string; leasedBy: string; claim: number }> {
  const id = newId('invocation');
  await database.db.sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    values (${id}, ${accountId}, ${emitterId}, 'http', '{}', ${leasedBy})`;
  return { id, leasedBy, claim: 1 };
}

function runOf(held: NonNullable<RunCommit['invocation']>, data: readonly unknown[]): RunCommit {
  return {
    accountId,
    sourceId: emitterId,
    invocation: held,
    final: true,
    dedupe: undefined,
    emits: data.map((one) => ({ data: JSON.stringify(one), emittedAtMs: 1 })),
    dbWrites: new Map(),
  };
}

async function commit(run: RunCommit, capacity = 1_000): Promise<CommittedRun> {
  const options = { nodeId: 'node_a', deliveryCapacity: () => 0, runCapacity: () => capacity, nowMs: Date.now };
  const [committed] = await commitRuns(database.db.sql, [run], options);
  if (committed === undefined) throw new Error('Nothing was committed');
  return committed;
}

const waiting = () => database.db.sql<{ event: string; leased_by: string | null; kind: string; hops: number }[]>`
  select event, leased_by, kind, hops from invocations where source_id = ${listenerId} order by id`;

const laneCount = async () =>
  (await database.db.sql`select from graphile_worker.jobs where key = ${`run:${listenerId}`}`).length;

test('an event and the invocation of its listener are one commit, held by the node that made it', async () => {
  const { invocations } = await commit(runOf(await invocation('node_a'), [1, 2]));
  expect(await waiting()).toEqual(
    [1, 2].map((n) => ({ event: String(n), leased_by: 'node_a', kind: 'event', hops: 1 })),
  );
  expect(invocations).toMatchObject([
    { sourceId: listenerId, event: '1', attempts: 1, leasedBy: 'node_a' },
    { sourceId: listenerId, event: '2', attempts: 1, leasedBy: 'node_a' },
  ]);
  expect(await laneCount()).toBe(0);
});

test('a run whose lease another node has taken leaves no invocation', async () => {
  const held = await invocation('node_b');
  expect(await commit(runOf({ ...held, leasedBy: 'node_a' }, [1]))).toMatchObject({
    committed: false,
    invocations: [],
  });
  expect(await waiting()).toEqual([]);
});

test('invocations beyond the room of the node wait for any node, in a lane, in the order of events', async () => {
  const { invocations } = await commit(runOf(await invocation('node_a'), [1, 2, 3, 4, 5]), 2);
  expect(invocations.map(({ event }) => event)).toEqual(['1', '2']);
  expect((await waiting()).map((row) => [row.event, row.leased_by])).toEqual([
    ['1', 'node_a'],
    ['2', 'node_a'],
    ['3', null],
    ['4', null],
    ['5', null],
  ]);
  expect(await laneCount()).toBe(1);
  const { held, more } = await claimInvocations(database.db.sql, listenerId, 'node_b', 10);
  expect(more).toBe(false);
  expect(held.map(({ event }) => event)).toEqual(['3', '4', '5']);
});

test('a claim ends once its events are large together, and says that there is more', async () => {
  const data = 'x'.repeat(0.4 * LIMITS.maxClaimBytes);
  await commit(runOf(await invocation('node_a'), [data, data, data, data, data]), 0);
  const claims = [];
  for (let turn = 0; turn < 3; turn++) {
    const { held, more } = await claimInvocations(database.db.sql, listenerId, 'node_a', 64);
    claims.push([held.length, more]);
  }
  expect(claims).toEqual([
    [3, true],
    [2, false],
    [0, false],
  ]);
});

test('a claimed invocation knows the event that made it, the beginning of the chain and its place in it', async () => {
  const begun = await invocation('node_a');
  await commit(runOf(begun, ['first']), 0);
  const claimed = await claimInvocations(database.db.sql, listenerId, 'node_a', 1);
  const [first] = claimed.held;
  const [event] = await database.db.sql`select indexed_at_ms, seq from events where emitter_id = ${emitterId}`;
  const eventId = `${emitterId}-${event?.['indexed_at_ms']}-${event?.['seq']}`;
  expect(first?.cause).toEqual({ event: eventId, traceId: begun.id, hops: 1 });
  await subscribe(listenerId, emitterId);
  if (first === undefined) return;
  const { invocations } = await commit({ ...runOf(first, ['second']), sourceId: listenerId });
  expect(invocations[0]).toMatchObject({ sourceId: emitterId, cause: { traceId: begun.id, hops: 2 } });
});

test.each([
  ['stopped', { active: false }],
  ['deleted', { deleted: true }],
  ['not deployed yet', { deployed: false }],
])('a listener that is %s gets nothing', async (_, state) => {
  listenerId = await insertSource(database.db.sql, accountId, state);
  await subscribe(emitterId, listenerId);
  await commit(runOf(await invocation('node_a'), [1]));
  expect(await waiting()).toEqual([]);
});

test('a source of another account that a row names as listener gets nothing', async () => {
  listenerId = await insertSource(database.db.sql, await insertAccount(database.db.sql));
  await subscribe(emitterId, listenerId);
  await commit(runOf(await invocation('node_a'), [1]));
  expect(await waiting()).toEqual([]);
});

test('a chain that is as long as it may be goes on to webhooks and readers, and to no source', async () => {
  const cause = { event: 'dc_x-1-0', traceId: 'inv_x', hops: 3 };
  const told: unknown[] = [];
  const run = { ...runOf({ ...(await invocation('node_a')), cause }, [1]), maxEventHops: 3 };
  const committed = await commit({ ...run, recordOverLimit: (limit) => void told.push(limit) });
  expect(committed).toMatchObject({
    committed: true,
    events: 1,
    exceeded: { name: 'maxEventHops', value: 3, used: 4 },
  });
  expect(told).toHaveLength(1);
  expect(await waiting()).toEqual([]);
});

test('listeners of channels without events are not read for a commit', async () => {
  for (let i = 0; i < 20; i++) await subscribe(emitterId, listenerId, `other${i}`);
  await subscribe('dc_*', listenerId, 'all');
  const read = async (...channels: string[]) =>
    (await readListeners(database.db.sql, [accountId], [emitterId], channels)).map((row) => row.event_name).toSorted();
  expect(await read('')).toEqual(['']);
  expect(await read('all', 'other3', '$errors')).toEqual(['all', 'other3']);
});
