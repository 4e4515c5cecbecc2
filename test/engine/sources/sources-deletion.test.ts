import { newId } from '@headwater/shared';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ChangeLease } from '../../../engine/src/db/change-lease.ts';
import { leaveToRecovery } from '../../../engine/src/sources/claim-abandoned-source.sql.ts';
import type { Sql } from '../../../engine/src/db/database.ts';
import {
  deleteSourceRows,
  deleteWaitingInvocations,
  dropUndeployedSource,
} from '../../../engine/src/sources/delete-source.sql.ts';
import { blockedBy } from '../../support/blocked-backends.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeadwater } from '../../support/headwater.ts';
import { insertAccount, insertSource, leaseSource } from '../../support/source-rows.ts';
import { type WatchedTransactions, watchTransactions } from '../../support/watch-transactions.ts';

/** As in delete-source.ts. */
const DELETE_BATCH = 2_000;
const MANY = 2 * DELETE_BATCH + 500;

/** On a database where no node takes over what these tests have leased. */
let database: TestDatabase;
let sql: Sql;
let deletions: WatchedTransactions;
beforeAll(async () => {
  database = await createTestDatabase();
  ({ sql } = database.db);
  deletions = await watchTransactions(sql, 'invocations', 'delete');
});
afterAll(() => database.drop());
beforeEach(() => deletions.forget());

type Owner = Pick<ChangeLease, 'accountId' | 'sourceId'>;

/** Invocations without any notification to a node. */
async function insertWaiting(of: Sql, { accountId, sourceId }: Owner, count: number): Promise<void> {
  await of`
    insert into invocations (id, account_id, source_id, kind, event)
    select e, ${accountId}, ${sourceId}, 'http', '{}' from unnest(${Array.from({ length: count }, () => newId('invocation'))}::text[]) e`;
}

async function left(of: Sql, sourceId: string): Promise<number> {
  return (await of`select from invocations where source_id = ${sourceId}`).length;
}

async function leased(state: { deployed?: boolean } = {}): Promise<ChangeLease> {
  const accountId = await insertAccount(sql);
  const sourceId = await insertSource(sql, accountId);
  const lease = await leaseSource(sql, accountId, sourceId);
  if (state.deployed === false) await sql`update sources set deployed_at = null where id = ${sourceId}`;
  return lease;
}

test('invocations of a deleted source are deleted in short transactions, and none is left', async () => {
  // A node of its own: deletions of other tests would be counted too.
  const hw = await startHeadwater();
  try {
    const ofNode = await watchTransactions(hw.sql, 'invocations', 'delete');
    const { id: sourceId } = await hw.deploy(`export default { name: 'Busy', version: '1', run() {} };`);
    await insertWaiting(hw.sql, { accountId: hw.accountId, sourceId }, MANY);
    expect((await hw.api('DELETE', `/sources/${sourceId}`)).status).toBe(204);
    // The node may have found some of them by then, and run them.
    const rows = await ofNode.rows();
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(MANY);
    expect(Math.max(...rows)).toBeLessThanOrEqual(DELETE_BATCH);
    expect(await left(hw.sql, sourceId)).toBe(0);
  } finally {
    await hw.stop();
  }
});

test('so are those of a source whose deployment failed', async () => {
  const lease = await leased({ deployed: false });
  await insertWaiting(sql, lease, MANY);
  await dropUndeployedSource(sql, lease);
  expect(await deletions.rows()).toEqual([DELETE_BATCH, DELETE_BATCH, 500]);
  expect(await sql`select from sources where id = ${lease.sourceId}`).toHaveLength(0);
});

test('a node that lost the lease of the deletion deletes no waiting invocations', async () => {
  const lease = await leased();
  await insertWaiting(sql, lease, 3);
  await leaveToRecovery(sql, lease, 60);
  await deleteWaitingInvocations(sql, lease);
  await dropUndeployedSource(sql, lease);
  expect(await left(sql, lease.sourceId)).toBe(3);
});

test('the deletion waits for running invocations in the order of ids and holds none behind them', async () => {
  const lease = await leased();
  const [first, last] = [newId('invocation', 1), newId('invocation', 2)];
  // In the table and its indexes the last one is before the first.
  for (const [id, node] of [
    [last, 'node_x'],
    [first, 'node_y'],
  ] as const)
    await sql`
      insert into invocations (id, account_id, source_id, kind, event, leased_by)
      values (${id}, ${lease.accountId}, ${lease.sourceId}, 'http', '{}', ${node})`;
  await deleteWaitingInvocations(sql, lease);
  expect(await left(sql, lease.sourceId)).toBe(2);
  let deletion: Promise<boolean> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from invocations where id = ${first} for update`;
    deletion = deleteSourceRows(sql, lease);
    await eventually(async () => (await blockedBy(tx)).length > 0);
    await tx`select from invocations where id = ${last} for update nowait`;
  });
  expect(await deletion).toBe(true);
  expect(await left(sql, lease.sourceId)).toBe(0);
});
