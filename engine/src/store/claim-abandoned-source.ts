import type { ChangeLease } from './change-source.ts';
import type { Sql } from './database.ts';

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
 * Takes the lease of a deployment or change whose node is gone, or that did not end before its lease. One source a call, for
 * one node alone.
 */
export async function claimAbandonedSource(
  sql: Sql,
  nodeId: string,
  leaseSeconds: number,
): Promise<AbandonedSource | undefined> {
  const rows = await sql<AbandonedSource[]>`
    update sources s set busy_by = ${nodeId}, busy_until = now() + make_interval(secs => ${leaseSeconds})
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
 * Leaves a change that did not come through to recovery, by any node, after `seconds`. Answers false where no hook had begun:
 * then there is nothing to recover, and the change may simply be ended.
 */
export async function leaveToRecovery(
  sql: Sql,
  { accountId, sourceId, nodeId }: ChangeLease,
  seconds: number,
): Promise<boolean> {
  const rows = await sql<{ hooks_begun: boolean }[]>`
    update sources set busy_until = now() + make_interval(secs => ${seconds})
    where account_id = ${accountId} and id = ${sourceId} and busy_by = ${nodeId} returning hooks_begun`;
  return rows[0]?.hooks_begun === true;
}
