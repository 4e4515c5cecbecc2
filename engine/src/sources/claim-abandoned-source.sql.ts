import type { ChangeLease, LeaseTerms } from '../db/change-lease.ts';
import type { Sql } from '../db/database.ts';

export interface AbandonedSource {
  id: string;
  account_id: string;
  /** False: its deployment never ended, and nobody was shown it. */
  deployed: boolean;
  active: boolean;
  /** Hooks of the change may have run, or half of one. */
  hooks_begun: boolean;
}

/**
 * Takes the lease of a deployment or change whose node is gone, or that did not end before its
 * lease. One source a call, for one node alone.
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
      )
      order by busy_until limit 1 for update skip locked
    ) as abandoned
    where s.id = abandoned.id
    returning s.id, s.account_id, s.deployed_at is not null as deployed, s.active, s.hooks_begun`;
  return rows[0];
}

/**
 * Leaves a change that did not come through to recovery, by any node, after `seconds`. Whoever held
 * it writes no more.
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
 * Leaves a change that did not come through to recovery if a hook of it had begun. Answers false
 * where none had: then there is nothing to recover, and whoever holds the change may simply end it.
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
  // No row: the lease was lost, and the change is somebody else's by now.
  return rows[0]?.['change_id'] !== changeId;
}
