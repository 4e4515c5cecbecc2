import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUnheldLeases } from '../../../engine/src/cluster/unheld-leases.ts';
import { addJobs } from '../../../engine/src/db/jobs/add-jobs.ts';
import { recordJobPool, registerNode } from '../../../engine/src/cluster/nodes.sql.ts';
import { freeLostJobs } from '../../../engine/src/db/jobs/unlock-jobs.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { testLog } from '../../support/logs.ts';
import { insertAccount, insertSource } from '../../support/source-rows.ts';

let database: TestDatabase;
let accountId: string;
let sourceId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  accountId = await insertAccount(database.db.sql);
  sourceId = await insertSource(database.db.sql, accountId);
});
afterAll(() => database.drop());

test('rows leased to a node that does not hold them are given back after two looks, and no others', async () => {
  const { sql } = database.db;
  const [lost, held, others] = [newId('invocation'), newId('invocation'), newId('invocation')];
  for (const [id, node] of [
    [lost, 'node_a'],
    [held, 'node_a'],
    [others, 'node_b'],
  ] as const)
    await sql`
      insert into invocations (id, account_id, source_id, kind, event, leased_by, attempts)
      values (${id}, ${accountId}, ${sourceId}, 'http', '1', ${node}, 1)`;
  const delivery = newId('delivery');
  await sql`
    insert into deliveries (id, account_id, webhook_id, emitter_id, indexed_at_ms, seq, leased_by)
    values (${delivery}, ${accountId}, 'wh_1', ${sourceId}, 1, 0, 'node_a')`;
  const look = createUnheldLeases({
    sql,
    nodeId: () => 'node_a',
    dispatcher: { holds: (id) => id === held, refuse: () => undefined },
    deliverer: { holds: () => false },
    sends: { holds: () => false },
    log: testLog,
  });
  const leases = async () => [
    ...(await sql`select id, leased_by from invocations where source_id = ${sourceId} and leased_by is not null`),
    ...(await sql`select id, leased_by from deliveries where id = ${delivery} and leased_by is not null`),
  ];
  await look();
  expect(await leases()).toHaveLength(4);
  await look();
  expect(new Set((await leases()).map((row) => row['id'] as string))).toEqual(new Set([held, others]));
  const jobs = await sql<{ key: string }[]>`select key from graphile_worker.jobs`;
  expect(jobs.map(({ key }) => key)).toEqual(
    expect.arrayContaining([`run:${sourceId}`, expect.stringContaining('deliver:wh_1')]),
  );
});

test('jobs whose fetch was lost are free again, and those that were just fetched stay', async () => {
  const { sql } = database.db;
  await addJobs(
    sql,
    ['old', 'new'].map((key) => ({ task: 'fire-timer', payload: {}, key, runAtMs: Date.now() + 1e6 })),
  );
  const lock = (key: string, pool: string, seconds: number) => sql`
    update graphile_worker._private_jobs set locked_by = ${pool}, locked_at = now() - make_interval(secs => ${seconds})
    where key = ${key}`;
  await registerNode(sql, { id: 'node_lost', role: 'all' });
  await recordJobPool(sql, 'node_lost', 'pool-a');
  await lock('old', 'pool-a', 31);
  await lock('new', 'pool-a', 29);
  await freeLostJobs(sql, { strayAfterMs: 10_000, lostAfterMs: 30_000 });
  const locked = await sql<{ key: string }[]>`select key from graphile_worker.jobs where locked_by is not null`;
  expect(locked.map(({ key }) => key)).toEqual(['new']);
  await sql`delete from graphile_worker._private_jobs`;
  await freeLostJobs(sql, { strayAfterMs: 10_000, lostAfterMs: 30_000 });
});
