import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createRetention } from '../../../engine/src/cluster/retention/retention.ts';
import type { ChangeLease } from '../../../engine/src/db/change-lease.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import {
  deleteSourceRows,
  deleteStoredValues,
  deleteWaitingInvocations,
  dropUndeployedSource,
} from '../../../engine/src/sources/delete-source.sql.ts';
import { fireTimers } from '../../../engine/src/sources/fire-timers.sql.ts';
import { putTimers } from '../../../engine/src/sources/put-timers.sql.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeadwater } from '../../support/headwater.ts';
import { insertAccount, insertSource, leaseSource } from '../../support/source-rows.ts';
import { type WatchedTransactions, watchTransactions } from '../../support/watch-transactions.ts';

/* Deletion of a source's stored values. */

/** As in delete-stored-values.ts. */
const DELETE_BATCH = 2_000;
const MANY = 2 * DELETE_BATCH + 500;

let database: TestDatabase;
let sql: Sql;
let deletions: WatchedTransactions;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database.db);
  deletions = await watchTransactions(sql, 'component_db', 'delete');
});
afterAll(() => database.drop());
beforeEach(() => deletions.forget());

async function store(of: Sql, accountId: string, sourceId: string, count: number): Promise<void> {
  await of`
    insert into component_db (source_id, key, account_id, value)
    select ${sourceId}, case when n = 0 then '' else 'key ' || n end, ${accountId}, '1'
    from generate_series(0, ${count}::int4 - 1) as n`;
}

const left = async (of: Sql, sourceId: string) =>
  (await of`select from component_db where source_id = ${sourceId}`).length;

async function leased(state: { deployed?: boolean } = {}): Promise<ChangeLease> {
  const accountId = await insertAccount(sql);
  const sourceId = await insertSource(sql, accountId);
  const lease = await leaseSource(sql, accountId, sourceId);
  if (state.deployed === false) await sql`update sources set deployed_at = null where id = ${sourceId}`;
  return lease;
}

test('the values of a deleted source are deleted after it, in short transactions, and none is left', async () => {
  const hw = await startHeadwater();
  try {
    const ofNode = await watchTransactions(hw.sql, 'component_db', 'delete');
    const { id } = await hw.deploy(`export default { name: 'Full', version: '1', run() {} };`);
    await store(hw.sql, hw.accountId, id, MANY);
    expect((await hw.api('DELETE', `/sources/${id}`)).status).toBe(204);
    expect((await ofNode.rows())[0]).toBeLessThanOrEqual(DELETE_BATCH);
    expect(await left(hw.sql, id)).toBe(0);
  } finally {
    await hw.stop();
  }
});

test('so are those of a source whose deployment failed, and not those of others', async () => {
  const [lease, other] = [await leased({ deployed: false }), await leased()];
  await store(sql, lease.accountId, lease.sourceId, MANY);
  await store(sql, other.accountId, other.sourceId, 3);
  await dropUndeployedSource(sql, lease);
  expect(await deletions.rows()).toEqual([DELETE_BATCH, DELETE_BATCH, 500]);
  expect(await sql`select from emitters where id = ${lease.sourceId}`).toHaveLength(0);
  expect([await left(sql, lease.sourceId), await left(sql, other.sourceId)]).toEqual([0, 3]);
});

test('all stored values are deleted but a locked one', async () => {
  const lease = await leased();
  await store(sql, lease.accountId, lease.sourceId, 10);
  expect(await deleteSourceRows(sql, lease)).toBe(true);
  await sql.begin(async (tx) => {
    await tx`select from component_db where source_id = ${lease.sourceId} and key = 'key 5' for update`;
    await deleteStoredValues(sql, lease.accountId, lease.sourceId);
  });
  expect(await left(sql, lease.sourceId)).toBe(1);
  await deleteStoredValues(sql, lease.accountId, lease.sourceId);
  expect(await left(sql, lease.sourceId)).toBe(0);
});

test('retention deletes the values left by a node that ended early, and keeps the row by which it finds them', async () => {
  const [gone, live] = [await leased(), await leased()];
  for (const { accountId, sourceId } of [gone, live]) await store(sql, accountId, sourceId, 2_500);
  expect(await deleteSourceRows(sql, gone)).toBe(true);
  await sql`update emitters set deleted_at = now() - interval '2 hours' where id = ${gone.sourceId}`;
  const turn = createRetention({ sql, defaultDays: 30, defaultVersions: 20, nowMs: Date.now });
  await turn();
  expect(await left(sql, gone.sourceId)).toBe(1_500);
  expect(await sql`select from emitters where id = ${gone.sourceId}`).toHaveLength(1);
  for (let turns = 0; turns < 6; turns++) await turn();
  expect([await left(sql, gone.sourceId), await left(sql, live.sourceId)]).toEqual([0, 2_500]);
  expect(await sql`select from emitters where id = ${gone.sourceId}`).toHaveLength(0);
  expect((await deletions.rows())[0]).toBe(1_000);
});

test('ticks of others are fired while a deletion waits for the commit of running invocations', async () => {
  const lease = await leased();
  const neighbourId = await insertSource(sql, lease.accountId);
  for (const id of [lease.sourceId, neighbourId])
    await sql.begin((tx) => putTimers(tx, lease.accountId, id, [{ name: 'timer', schedule: { intervalSeconds: 60 } }]));
  const ticks = await sql<{ sourceId: string; propName: string; generation: number; dueAtMs: number }[]>`
    select source_id as "sourceId", prop_name as "propName", generation, due_ms as "dueAtMs" from timers`;
  const running = newId('invocation');
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    values (${running}, ${lease.accountId}, ${lease.sourceId}, 'http', '{}', 'node_x')`;
  await deleteWaitingInvocations(sql, lease);
  let deletion: Promise<boolean> | undefined;
  const options = { nodeId: 'node_a', capacity: () => 9, isFull: () => false, priorityAt: () => 0 };
  await sql.begin(async (tx) => {
    await tx`select from invocations where id = ${running} for update`;
    deletion = deleteSourceRows(sql, lease);
    await eventually(async () => (await blockedBy(tx)).length > 0);
    const fired = await fireTimers(sql, [...ticks], options);
    const kinds = ticks.map(({ sourceId }, at) => [sourceId === neighbourId, fired[at]?.kind]);
    expect(new Set(kinds.map(String))).toEqual(new Set(['true,held', 'false,stale']));
    expect(await blockedBy(tx)).toHaveLength(1);
  });
  expect(await deletion).toBe(true);
});
