import { setTimeout as sleep } from 'node:timers/promises';
import { restAfterMs } from '../fairness/rest-after.ts';
import type { ChangeLease } from '../db/change-lease.ts';
import type { Sql, Transaction } from '../db/database.ts';
import { deleteStoredValues } from './delete-stored-values.sql.ts';
import { noteUnusedCode } from '../accounts/delete-account.sql.ts';
import { notifySourceChanged } from '../db/notify-changed.ts';
import { dropTimers } from './put-timers.sql.ts';

/**
 * Ends a source: no endpoint, timer, subscription, waiting invocation or secret is left. Its events
 * stay until their deliveries have ended. Its row stays to name the origin of those events.
 * Afterwards the caller deletes its stored values (deleteStoredValues). Returns false if the lease
 * was lost: then nothing is done.
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
    // After the invocations, in the lock order of commits. From here on no commit stores anything
    // of this source.
    await tx`delete from emitter_state where account_id = ${accountId} and emitter_id = ${id}`;
    await notifySourceChanged(tx, id);
    return true;
  });
}

/**
 * Invocations deleted in one transaction: a statement that waits for one of these rows waits for a
 * fraction of a second.
 */
const DELETE_BATCH = 2_000;

/**
 * Deletes waiting invocations of a source before its deletion, in short transactions. With the
 * deletion, hundreds of thousands would delay all tenants' commits and ticks. The deletion handles
 * invocations that are added meanwhile or still run. Call it last before the deletion, as it cannot
 * be undone. Ends early if the lease was lost. `inTurn` limits concurrent transactions of an
 * account: several deletions could take all of the node's connections.
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
 * In a separate transaction: the deletion waits for commits of current runs, and the ticks of all
 * tenants would wait with it. If the deletion fails, its recovery sets the timers again.
 */
async function endTimers(sql: Sql, lease: ChangeLease): Promise<void> {
  await sql.begin(async (tx) => {
    if (await isHeld(tx, lease)) await dropTimers(tx, lease.sourceId);
  });
}

/** Locks the change: until the transaction ends no other node can take it over. */
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
 * Removes a source whose deployment failed, with everything that its hooks may have left. No client
 * has seen it.
 */
export async function dropUndeployedSource(sql: Sql, lease: ChangeLease): Promise<void> {
  const { accountId, sourceId: id } = lease;
  await deleteWaitingInvocations(sql, lease);
  if (!(await deleteSourceRows(sql, lease))) return;
  // Before the source's row: retention finds leftover values by that row.
  await deleteStoredValues(sql, accountId, id);
  await sql.begin(async (tx) => {
    const rows = await tx`
      delete from sources where account_id = ${accountId} and id = ${id} and deployed_at is null returning id`;
    if (rows.length > 0) await tx`delete from events where account_id = ${accountId} and emitter_id = ${id}`;
  });
}
