import type { WaitingStats } from '../../contract/stats.ts';
import type { Sql } from '../../db/database.ts';

/**
 * The oldest run and the oldest due delivery of the account that no node has. Looks at the first
 * row of each source and webhook by its index, however much waits behind it.
 */
export async function readOldestWaiting(sql: Sql, accountId: string): Promise<WaitingStats> {
  const [runs, deliveries] = await Promise.all([
    sql<{ id: string; name: string; sinceMs: number }[]>`
      select e.id, e.name, (extract(epoch from first.created_at) * 1000)::int8 as "sinceMs"
      from emitters e cross join lateral (
        select created_at from invocations i where i.leased_by is null and i.source_id = e.id order by i.id limit 1
      ) as first
      where e.account_id = ${accountId} and e.deleted_at is null and e.active
      order by first.created_at limit 1`,
    sql<{ id: string; name: string; sinceMs: number }[]>`
      select w.id, coalesce(w.name, w.url) as name, (extract(epoch from first.next_attempt_at) * 1000)::int8 as "sinceMs"
      from webhooks w cross join lateral (
        select next_attempt_at from deliveries d
        where d.status = 'pending' and d.leased_by is null and d.webhook_id = w.id and d.next_attempt_at <= now()
        order by d.next_attempt_at limit 1
      ) as first
      where w.account_id = ${accountId} and w.active
      order by first.next_attempt_at limit 1`,
  ]);
  return { run: runs[0], delivery: deliveries[0] };
}
