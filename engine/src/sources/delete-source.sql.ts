import { setTimeout as sleep } from 'node:timers/promises';
import { noteUnusedCode } from '../accounts/index.ts';
import { type ChangeLease, notifySourceChanged, type Sql, type Transaction } from '../db/index.ts';
import { inIndexOrder } from '../events/index.ts';
import { restAfterMs } from '../fairness/index.ts';
import { dropTimers } from './put-timers.sql.ts';

/** Values that are deleted in one transaction: a fraction of a second of one processor. */
const VALUES_BATCH = 2_000;

/**
 * Deletes the `$.service.db` of a deleted source, in short transactions with pauses. Ten megabytes
 * of small values are a hundred and fifty thousand rows: one transaction would delay all tenants'
 * commits. No run adds to them, since the source's state is gone. If this ends early, retention
 * deletes the rest. `inTurn` limits concurrent transactions of an account.
 */
export async function deleteStoredValues(
  sql: Sql,
  accountId: string,
  sourceId: string,
  inTurn: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
): Promise<void> {
  for (let from: string | undefined = ''; from !== undefined; ) {
    const begunMs = performance.now();
    const at: string = from;
    from = await inTurn(() => deleteSomeValues(sql, { accountId, sourceId, from: at }));
    if (from !== undefined) await sleep(restAfterMs(performance.now() - begunMs));
  }
}

/**
 * Answers the last one where there may be more. The next ones are looked for from there, as the
 * index still has those that were deleted, and each slice would read all before it.
 */
async function deleteSomeValues(
  sql: Sql,
  { accountId, sourceId, from }: { accountId: string; sourceId: string; from: string },
): Promise<string | undefined> {
  const [row] = await inIndexOrder(
    sql,
    (tx) => tx<{ count: number; last: string | null }[]>`
      with gone as (
        delete from component_db where account_id = ${accountId} and source_id = ${sourceId} and key = any(array(
          select key from component_db where account_id = ${accountId} and source_id = ${sourceId} and key >= ${from}
          order by key limit ${VALUES_BATCH} for update skip locked
        ))
        returning key
      )
      select count(*)::int4 as count, max(key) as last from gone`,
  );
  return row?.count === VALUES_BATCH ? (row.last ?? undefined) : undefined;
}

/**
 * Deletes values that remain because a node ended early: at most `limit`, for the deleted ones of
 * these emitters. Returns how many.
 */
export async function deleteLeftValues(sql: Sql, emitterIds: readonly string[], limit: number): Promise<number> {
  const rows = await sql`
    delete from component_db d using (
      select e.id, kept.key from emitters e cross join lateral (
        select key from component_db where source_id = e.id limit ${limit} for update skip locked
      ) as kept
      where e.id = any(${[...emitterIds]}::text[]) and e.deleted_at is not null limit ${limit}
    ) as old
    where d.source_id = old.id and d.key = old.key`;
  return rows.count;
}

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
const INVOCATIONS_BATCH = 2_000;

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
    after = await inTurn(() => deleteSomeInvocations(sql, lease, last));
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
async function deleteSomeInvocations(sql: Sql, lease: ChangeLease, after: string): Promise<string | undefined> {
  const { accountId, sourceId } = lease;
  return sql.begin(async (tx) => {
    if (!(await isHeld(tx, lease))) return undefined;
    const rows = await tx<{ id: string }[]>`
      select id from invocations
      where account_id = ${accountId} and source_id = ${sourceId} and leased_by is null and id > ${after}
      order by leased_by, source_id, id limit ${INVOCATIONS_BATCH} for update`;
    if (rows.length === 0) return undefined;
    await tx`delete from invocations where id = any(${rows.map(({ id }) => id)}::text[])`;
    return rows.length === INVOCATIONS_BATCH ? rows.at(-1)?.id : undefined;
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
