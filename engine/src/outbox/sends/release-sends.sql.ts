import { addJobs, type JobSpec, type Sql, type Transaction } from '../../db/index.ts';
import { laterSendLane, sendLane } from './send-lane.ts';

/**
 * Gives back pending sends that these nodes have leased (they end, or were found dead). Answers how
 * many rows there were, and the lane jobs that are to be added in the same transaction.
 */
export async function releaseSends(
  tx: Sql | Transaction,
  nodeIds: readonly string[],
): Promise<{ count: number; lanes: JobSpec[] }> {
  const rows = await tx<{ account_id: string; count: number }[]>`
    with freed as (
      update sends set leased_by = null where leased_by = any(${[...nodeIds]}::text[]) and status = 'pending'
      returning account_id
    )
    select account_id, count(*)::int4 as count from freed group by account_id`;
  const total = rows.reduce((sum, { count }) => sum + count, 0);
  return { count: total, lanes: rows.map((row) => sendLane(row.account_id)) };
}

/**
 * Gives back what this node has no room for; it is due again at `atMs`, behind what has waited
 * meanwhile.
 */
export async function postponeSends(
  sql: Sql,
  nodeId: string,
  units: readonly { id: string; accountId: string }[],
  atMs: number,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      update sends set leased_by = null, next_attempt_at = to_timestamp(${atMs}::float8 / 1000.0)
      where unit_id = any(${units.map(({ id }) => id)}::text[]) and leased_by = ${nodeId} and status = 'pending'`;
    const accountIds = [...new Set(units.map(({ accountId }) => accountId))].toSorted();
    await addJobs(
      tx,
      accountIds.map((accountId) => laterSendLane(accountId, atMs)),
    );
  });
}

/**
 * As requeueStalledDeliveries, for accounts with sends that have been due and unleased for
 * `olderThanMs`.
 */
export async function requeueStalledSends(sql: Sql, olderThanMs: number): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<{ account_id: string }[]>`
      with recursive waiting(account_id) as (
        (
          select account_id from sends where status = 'pending' and leased_by is null
          order by leased_by, account_id limit 1
        )
        union all
        select (
          select s.account_id from sends s
          where s.status = 'pending' and s.leased_by is null and s.account_id > waiting.account_id
          order by s.leased_by, s.account_id limit 1
        ) from waiting where waiting.account_id is not null
      )
      select account_id from waiting where account_id is not null
        and not exists (select from accounts a where a.id = waiting.account_id and a.suspended_at is not null) and exists (
        select from sends s
        where s.status = 'pending' and s.leased_by is null and s.account_id = waiting.account_id
          and s.next_attempt_at < now() - make_interval(secs => ${olderThanMs / 1_000}::float8)
      )`;
    await addJobs(
      tx,
      rows.map((row) => sendLane(row.account_id)),
    );
    return rows.length;
  });
}
