import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addJobs } from '../../../engine/src/db/jobs/add-jobs.ts';
import { openDatabase, type Sql } from '../../../engine/src/db/database.ts';
import {
  hasDeadNodes,
  heartbeatNode,
  recordJobPool,
  registerNode,
  releaseAllNodes,
  releaseDeadNodes,
  releaseNode,
} from '../../../engine/src/cluster/nodes.sql.ts';
import { startNodeLease } from '../../../engine/src/cluster/node-lease.ts';
import { createSteadiness } from '../../../engine/src/cluster/steadiness.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

const DEAD_AFTER_MS = 15_000;

let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await createTestDatabase();
  sql = database.db.sql;
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`truncate nodes, invocations, deliveries, graphile_worker._private_jobs`;
});

async function addNode(id: string, seenAgoMs = 0): Promise<void> {
  await registerNode(sql, { id, role: 'all' });
  await sql`update nodes set seen_at = now() - make_interval(secs => ${seenAgoMs / 1000}::float8) where id = ${id}`;
}

async function addInvocation(sourceId: string, leasedBy: string | null): Promise<string> {
  const id = newId('invocation');
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by, attempts)
    values (${id}, 'o_a', ${sourceId}, 'http', '{}', ${leasedBy}, 1)`;
  return id;
}

async function addDelivery(webhookId: string, leasedBy: string | null, status = 'pending'): Promise<string> {
  const id = newId('delivery');
  await sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, status, leased_by)
    values (${id}, 'o_a', ${webhookId}, 'dc_a', 1, 0, ${status}, ${leasedBy})`;
  return id;
}

const lanes = async () =>
  (await sql<{ key: string }[]>`select key from graphile_worker.jobs where key is not null order by key`).map(
    (row) => row.key,
  );
const holders = async () =>
  (
    await sql<{ leased_by: string | null }[]>`
      select leased_by from invocations union all select leased_by from deliveries order by 1 nulls first`
  ).map((row) => row.leased_by);

async function lockJob(key: string, pool: string): Promise<void> {
  await addJobs(sql, [{ task: 'fire-timer', payload: {}, key }]);
  await sql`update graphile_worker._private_jobs set locked_by = ${pool}, locked_at = now(), attempts = 1 where key = ${key}`;
}
const lockedJobs = async () =>
  (await sql<{ key: string }[]>`select key from graphile_worker.jobs where locked_by is not null order by key`).map(
    (row) => row.key,
  );

test('the rows of a dead node are free again and their lanes are queued, and a live node keeps its own', async () => {
  await addNode('node_dead', DEAD_AFTER_MS + 1_000);
  await addNode('node_live', DEAD_AFTER_MS - 5_000);
  await addNode('node_me');
  for (const source of ['dc_a', 'dc_a', 'dc_b']) await addInvocation(source, 'node_dead');
  await addInvocation('dc_c', 'node_live');
  await addDelivery('wh_a', 'node_dead');
  await addDelivery('wh_b', 'node_live');
  await addDelivery('wh_c', 'node_dead', 'delivered');

  const released = await releaseDeadNodes(sql, { deadAfterMs: DEAD_AFTER_MS, exceptId: 'node_me' });

  expect(released).toEqual({ nodes: ['node_dead'], invocations: 3, deliveries: 1, sends: 0 });
  expect(await lanes()).toEqual(['deliver:wh_a:now', 'run:dc_a', 'run:dc_b']);
  expect(await holders()).toEqual([null, null, null, null, 'node_dead', 'node_live', 'node_live']);
  expect(await heartbeatNode(sql, 'node_dead')).toBe(false);
  expect(await heartbeatNode(sql, 'node_live')).toBe(true);
});

test('neither the death of a node nor its clean stop counts as a crash of its invocations', async () => {
  await addNode('node_dead', DEAD_AFTER_MS + 1_000);
  await addNode('node_clean');
  const crashed = await addInvocation('dc_a', 'node_dead');
  const stopped = await addInvocation('dc_b', 'node_clean');
  await releaseDeadNodes(sql, { deadAfterMs: DEAD_AFTER_MS, exceptId: 'node_me' });
  expect(await releaseNode(sql, 'node_clean')).toEqual({
    nodes: ['node_clean'],
    invocations: 1,
    deliveries: 0,
    sends: 0,
  });
  const rows = await sql<{ id: string; crashes: number }[]>`select id, crashes from invocations`;
  expect(Object.fromEntries(rows.map((row) => [row.id, row.crashes]))).toEqual({ [crashed]: 0, [stopped]: 0 });
  expect(await lanes()).toEqual(['run:dc_a', 'run:dc_b']);
  expect(await heartbeatNode(sql, 'node_clean')).toBe(false);
});

test('leases of ids that no node has are released, however many ids there are, but never the own', async () => {
  await addNode('node_live');
  for (let i = 0; i < 5; i++) {
    await addInvocation(`dc_${i}`, `node_gone_${i}`);
    await addDelivery(`wh_${i}`, `node_lost_${i}`);
    await addInvocation('dc_mine', 'node_me');
    await addInvocation('dc_live', 'node_live');
  }
  const released = await releaseDeadNodes(sql, { deadAfterMs: DEAD_AFTER_MS, exceptId: 'node_me' });
  expect(released).toMatchObject({ invocations: 5, deliveries: 5 });
  expect(released.nodes.toSorted()).toEqual(
    ['gone', 'lost'].flatMap((w) => [0, 1, 2, 3, 4].map((i) => `node_${w}_${i}`)),
  );
  expect((await holders()).filter((id) => id !== null)).toEqual([
    ...Array<string>(5).fill('node_live'),
    ...Array<string>(5).fill('node_me'),
  ]);
});

test('a node whose connection has ended is dead sooner than one that may only be slow', async () => {
  const ended = openDatabase({ url: database.url, maxConnections: 1 });
  for (const id of ['node_killed', 'node_slow', 'node_late', 'node_me']) await addNode(id);
  await heartbeatNode(ended.sql, 'node_killed');
  await heartbeatNode(ended.sql, 'node_late');
  await ended.close();
  const living = openDatabase({ url: database.url, maxConnections: 1 });
  await heartbeatNode(living.sql, 'node_slow', 'pool-slow');
  const see = (id: string, agoMs: number) =>
    sql`update nodes set seen_at = now() - make_interval(secs => ${agoMs / 1000}::float8) where id = ${id}`;
  await see('node_killed', 7_000);
  await see('node_slow', 7_000);
  await see('node_late', 5_000);
  const options = { deadAfterMs: 10_000, goneAfterMs: 6_000, exceptId: 'node_me' };
  await eventually(() => hasDeadNodes(sql, options));
  expect((await releaseDeadNodes(sql, options)).nodes).toEqual(['node_killed']);
  expect(await hasDeadNodes(sql, options)).toBe(false);
  await see('node_slow', 10_500);
  expect((await releaseDeadNodes(sql, options)).nodes).toEqual(['node_slow']);
  await living.close();
});

test('a node declares no other node dead while its own heartbeats are late, nor soon after', () => {
  let nowMs = 0;
  const steadiness = createSteadiness({ gapMs: 4_000, steadyMs: 6_000 }, () => nowMs);
  const after = (ms: number) => {
    nowMs += ms;
    return steadiness.isSteady();
  };
  const beatAfter = (ms: number) => {
    nowMs += ms;
    steadiness.beat();
    return steadiness.isSteady();
  };
  expect([beatAfter(2_000), beatAfter(2_000), beatAfter(2_000)]).toEqual([false, false, true]);
  // The database is away.
  expect([after(3_000), after(2_000)]).toEqual([true, false]);
  expect([beatAfter(5_000), beatAfter(3_000), beatAfter(2_900), beatAfter(100)]).toEqual([false, false, false, true]);
});

test('several nodes that find the same dead one release it once', async () => {
  await addNode('node_dead', DEAD_AFTER_MS + 1_000);
  for (let i = 0; i < 50; i++) await addInvocation('dc_a', 'node_dead');
  const all = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => releaseDeadNodes(sql, { deadAfterMs: DEAD_AFTER_MS, exceptId: `node_${name}` })),
  );
  expect(all.map((released) => released.invocations).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 50]);
});

test('when nothing is dead nothing changes', async () => {
  await addNode('node_live');
  await addInvocation('dc_a', 'node_live');
  await lockJob('timer:a', 'pool-live');
  const released = await releaseDeadNodes(sql, { deadAfterMs: DEAD_AFTER_MS, exceptId: 'node_me' });
  expect(released).toEqual({ nodes: [], invocations: 0, deliveries: 0, sends: 0 });
  expect(await holders()).toEqual(['node_live']);
  expect(await lockedJobs()).toEqual(['timer:a']);
  expect(await lanes()).toEqual(['timer:a']);
});

test('jobs that a dead node had locked can be taken at once, those of a live node stay locked', async () => {
  await addNode('node_dead', DEAD_AFTER_MS + 1_000);
  await addNode('node_live');
  await recordJobPool(sql, 'node_dead', 'pool-dead');
  await recordJobPool(sql, 'node_live', 'pool-live');
  await lockJob('timer:dead', 'pool-dead');
  await lockJob('timer:live', 'pool-live');
  await lockJob('timer:young', 'pool-of-a-node-that-has-not-recorded-it-yet');
  await releaseDeadNodes(sql, { deadAfterMs: DEAD_AFTER_MS, exceptId: 'node_me' });
  expect(await lockedJobs()).toEqual(['timer:live', 'timer:young']);
});

test('at the start on an embedded database everything that another process held is free', async () => {
  await addNode('node_old');
  await addNode('node_me');
  await addInvocation('dc_a', 'node_old');
  await addInvocation('dc_b', 'node_without_row');
  await addInvocation('dc_c', 'node_me');
  await lockJob('timer:old', 'pool-never-recorded');
  const released = await releaseAllNodes(sql, { exceptId: 'node_me' });
  expect(released.nodes.toSorted()).toEqual(['node_old', 'node_without_row']);
  expect(await holders()).toEqual([null, null, 'node_me']);
  expect(await lockedJobs()).toEqual([]);
  expect(await heartbeatNode(sql, 'node_me')).toBe(true);
});

test('a node that stood still is not certain of its leases before the database has confirmed them', async () => {
  let nowMs = 0;
  const lost: string[] = [];
  const options = { role: 'all', log: testLog, maintain: () => Promise.resolve(), nowMs: () => nowMs };
  const lease = await startNodeLease({ sql, ...options });
  lease.onLost((id) => lost.push(id));
  try {
    const id = lease.id();
    expect(lease.isCertain(id)).toBe(true);
    nowMs += 9_000;
    expect(lease.isCertain(id)).toBe(false);
    expect(await lease.confirm(id)).toBe(true);
    expect([lease.isCertain(id), lost]).toEqual([true, []]);
    nowMs += 9_000;
    await sql`delete from nodes where id = ${id}`;
    expect(await lease.confirm(id)).toBe(false);
    expect(lost).toEqual([id]);
    expect([lease.id() === id, lease.isCertain(lease.id())]).toEqual([false, true]);
  } finally {
    await lease.stop();
  }
});

test('lanes in the memory of a dead node are queued anew by the node that takes over', async () => {
  const accountId = await insertAccount(sql);
  const sourceId = await insertSource(sql, accountId);
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts)
    values (${newId('invocation')}, ${accountId}, ${sourceId}, 'http', '{}', 0)`;
  await addDelivery('wh_a', null);
  await addNode('node_dead', 60_000);
  const lease = await startNodeLease({ sql, role: 'all', log: testLog, maintain: () => Promise.resolve() });
  try {
    const expected = [expect.stringMatching('^deliver:wh_a'), `run:${sourceId}`];
    await eventually(async () => (await lanes()).length === expected.length);
    expect(await lanes()).toEqual(expected);
  } finally {
    await lease.stop();
  }
});
