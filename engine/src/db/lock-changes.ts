import type { ChangeLease } from './change-lease.ts';
import type { Sql, Transaction } from './database.ts';

/**
 * Returns the changes that are still held, and keeps them from being taken over until the
 * transaction ends. See claimAbandonedSource, which locks the changes that it takes. Comes before
 * all other locks: deletions lock the source's row before its invocations and its state. The lock
 * is no stronger, because another writer of the row may hold a lock that this transaction waits
 * for.
 */
export function lockChanges(
  connection: Sql | Transaction,
  changes: readonly ChangeLease[],
): PromiseLike<{ change_id: string; is_deployed: boolean }[]> | [] {
  if (changes.length === 0) return [];
  return connection<{ change_id: string; is_deployed: boolean }[]>`
    select s.change_id, s.deployed_at is not null as is_deployed from sources s
    join unnest(
      ${changes.map((change) => change.accountId)}::text[], ${changes.map((change) => change.sourceId)}::text[],
      ${changes.map((change) => change.changeId)}::text[], ${changes.map((change) => change.nodeId)}::text[]
    ) as mine(account_id, id, change_id, node_id)
    on s.account_id = mine.account_id and s.id = mine.id and s.change_id = mine.change_id and s.busy_by = mine.node_id
    order by s.id for key share of s`;
}
