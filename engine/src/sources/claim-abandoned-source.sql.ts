import type { ChangeLease, LeaseTerms, Sql } from '../db/index.ts';

export interface AbandonedSource {
  id: string;
  account_id: string;
  /** False: its deployment never ended, so no client has seen it. */
  deployed: boolean;
  active: boolean;
  /** Hooks of the change may have run, or half of one. */
  hooks_begun: boolean;
}

/**
 * Takes over a deployment or change whose node is gone, or that did not end before its lease. One
 * source per call, and one node per source. Those of suspended accounts wait.
 */
export async function claimAbandonedSource(
  sql: Sql,
  { changeId, nodeId, seconds }: LeaseTerms,
): Promise<AbandonedSource | undefined> {
  const rows = await sql<AbandonedSource[]>`
    update sources s set busy_by = ${nodeId}, change_id = ${changeId}, busy_until = now() + make_interval(secs => ${seconds})
    from (
      select id from sources
      where busy_until is not null and deleted_at is null and (
        busy_until < now() or (busy_by is not null and not exists (select from nodes where nodes.id = busy_by))
      ) and not exists (
        select from accounts a where a.id = sources.account_id and a.suspended_at is not null and a.deleted_at is null
      )
      order by busy_until limit 1 for update skip locked
    ) as abandoned
    where s.id = abandoned.id
    returning s.id, s.account_id, s.deployed_at is not null as deployed, s.active, s.hooks_begun`;
  return rows[0];
}

/**
 * Leaves an unfinished change to recovery, by any node, after `seconds`. The former holder writes
 * no more.
 */
export async function leaveToRecovery(
  sql: Sql,
  { accountId, sourceId, changeId, nodeId }: ChangeLease,
  seconds: number,
): Promise<void> {
  await sql`
    update sources set busy_until = now() + make_interval(secs => ${seconds}), change_id = null
    where account_id = ${accountId} and id = ${sourceId} and change_id = ${changeId} and busy_by = ${nodeId}`;
}

/**
 * Leaves an unfinished change to recovery if one of its hooks had begun. Returns false otherwise:
 * then there is nothing to recover, and the holder may simply end the change.
 */
export async function leaveHooksToRecovery(
  sql: Sql,
  { accountId, sourceId, changeId, nodeId }: ChangeLease,
): Promise<boolean> {
  const rows = await sql`
    update sources set busy_until = case when hooks_begun then now() else busy_until end,
      change_id = case when hooks_begun then null else change_id end
    where account_id = ${accountId} and id = ${sourceId} and change_id = ${changeId} and busy_by = ${nodeId}
    returning change_id`;
  // No row: the lease was lost, and another node has the change.
  return rows[0]?.['change_id'] !== changeId;
}
