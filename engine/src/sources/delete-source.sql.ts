import { setTimeout as sleep } from 'node:timers/promises';
import { restAfterMs } from '../fairness/rest-after.ts';
import type { ChangeLease } from '../db/change-lease.ts';
import type { Sql, Transaction } from '../db/database.ts';
import { deleteStoredValues } from './delete-stored-values.sql.ts';
import { noteUnusedCode } from '../accounts/delete-unused-code.sql.ts';
import { notifySourceChanged } from '../db/notify-changed.ts';
import { dropTimers } from './put-timers.sql.ts';

/**
 * Ends a source: no endpoint, timer, subscription, waiting invocation or secret is left. Its events
 * stay until deliveries of them are through; its row stays as the name of what they came from. What
 * it has stored is the caller's to delete afterwards (deleteStoredValues). Answers false where the
 * lease was lost: then nothing is done.
 */
export async function deleteSourceRows(sql: Sql, lease: ChangeLease): Promise<boolean> {
  const { accountId, sourceId: id, changeId, nodeId } = lease;
  return sql.begin(async (tx) => {
    await noteUnusedCode(tx, id);
    const rows = await tx`
      update sources set deleted_at = now(), active = false, busy_until = null, busy_by = null, change_id = null,
        configured_props = '{}', dynamic_props = '[]'
      where account_id = ${accountId} and id = ${id} and change_id = ${changeId} and busy_by = ${nodeId} returning id`;
    if (rows.length === 0) return false;
    await tx`delete from endpoints where account_id = ${accountId} and source_id = ${id}`;
    await dropTimers(tx, id);
    // In the order in which commits lock them.
    await tx`select from invocations where account_id = ${accountId} and source_id = ${id} order by id for update`;
    await tx`delete from invocations where account_id = ${accountId} and source_id = ${id}`;
    await tx`delete from abandoned_runs where account_id = ${accountId} and source_id = ${id}`;
    // Before the subscriptions: see subscribeNewEmitter.
    await tx`delete from auto_subscriptions where account_id = ${accountId} and listener_id = ${id}`;
    await tx`
      delete from subscriptions where account_id = ${accountId} and (emitter_id = ${id} or listener_id = ${id})`;
    // After the invocations, as commits lock it. From here on nobody stores anything of this
    // source.
    await tx`delete from emitter_state where account_id = ${accountId} and emitter_id = ${id}`;
    await notifySourceChanged(tx, id);
    return true;
  });
}

/**
 * Invocations that are deleted in one transaction: whoever waits for one of its rows waits for a
 * fraction of a second.
 */
const DELETE_BATCH = 2_000;

/**
 * Deletes what waits for a source that is about to be deleted, in short transactions: together with
 * the deletion, hundreds of thousands would keep commits and ticks of everybody waiting. What comes
 * meanwhile, and what runs, the deletion finds. Only once nothing but the deletion is left to do,
 * as it cannot be taken back. Ends early where the lease was lost. `inTurn`: of each transaction,
 * where several of an account may be deleted at a time, and together would have all of the node's
 * connections.
 */
export async function deleteWaitingInvocations(
  sql: Sql,
  lease: ChangeLease,
  inTurn: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Promise<void> {
  await inTurn(() => endTimers(sql, lease));
  for (let after: string | undefined = ''; after !== undefined; ) {
    const begunMs = performance.now();
    const last: string = after;
    after = await inTurn(() => deleteSome(sql, lease, last));
    if (after !== undefined) await sleep(restAfterMs(performance.now() - begunMs));
  }
}

/**
 * In a transaction of their own: the deletion waits for commits of what runs, and whoever fires
 * everybody's ticks would wait with it. Where the deletion does not come through, the end of its
 * recovery sets them again.
 */
async function endTimers(sql: Sql, lease: ChangeLease): Promise<void> {
  await sql.begin(async (tx) => {
    if (await isHeld(tx, lease)) await dropTimers(tx, lease.sourceId);
  });
}

/** Until the transaction is through nobody else takes the change over. */
async function isHeld(tx: Transaction, { accountId, sourceId, changeId, nodeId }: ChangeLease): Promise<boolean> {
  const held = await tx`
    select from sources
    where account_id = ${accountId} and id = ${sourceId} and change_id = ${changeId} and busy_by = ${nodeId} for share`;
  return held.length > 0;
}

/** Answers the last one where there may be more. */
async function deleteSome(sql: Sql, lease: ChangeLease, after: string): Promise<string | undefined> {
  const { accountId, sourceId } = lease;
  return sql.begin(async (tx) => {
    if (!(await isHeld(tx, lease))) return undefined;
    const rows = await tx<{ id: string }[]>`
      select id from invocations
      where account_id = ${accountId} and source_id = ${sourceId} and leased_by is null and id > ${after}
      order by leased_by, source_id, id limit ${DELETE_BATCH} for update`;
    if (rows.length === 0) return undefined;
    await tx`delete from invocations where id = any(${rows.map(({ id }) => id)}::text[])`;
    return rows.length === DELETE_BATCH ? rows.at(-1)?.id : undefined;
  });
}

/**
 * Removes a source whose deployment failed, with all that its hooks may have left: nobody has ever
 * seen it.
 */
export async function dropUndeployedSource(sql: Sql, lease: ChangeLease): Promise<void> {
  const { accountId, sourceId: id } = lease;
  await deleteWaitingInvocations(sql, lease);
  if (!(await deleteSourceRows(sql, lease))) return;
  // Before its row: retention finds what is left of them by that.
  await deleteStoredValues(sql, accountId, id);
  await sql.begin(async (tx) => {
    const rows = await tx`
      delete from sources where account_id = ${accountId} and id = ${id} and deployed_at is null returning id`;
    if (rows.length > 0) await tx`delete from events where account_id = ${accountId} and emitter_id = ${id}`;
  });
}
