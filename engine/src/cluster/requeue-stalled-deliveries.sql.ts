import { addJobs } from '../db/jobs/add-jobs.ts';
import type { Sql } from '../db/database.ts';
import { deliverLane } from '../outbox/deliveries/deliver-lane.ts';

/**
 * Adds lane jobs for webhooks with deliveries that have been due and unleased for `olderThanMs`.
 * Rows and jobs commit together, so such a webhook has lost its job since. Skips stopped webhooks
 * and suspended accounts. Steps from webhook to webhook through the index, however many rows each
 * has. Returns the number of webhooks.
 */
export async function requeueStalledDeliveries(sql: Sql, olderThanMs: number): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<{ webhook_id: string }[]>`
      with recursive waiting(webhook_id) as (
        (
          select webhook_id from deliveries where status = 'pending' and leased_by is null
          order by leased_by, webhook_id limit 1
        )
        union all
        select (
          select d.webhook_id from deliveries d
          where d.status = 'pending' and d.leased_by is null and d.webhook_id > waiting.webhook_id
          order by d.leased_by, d.webhook_id limit 1
        ) from waiting where waiting.webhook_id is not null
      )
      select webhook_id from waiting where webhook_id is not null
        and not exists (
          select from webhooks w join accounts a on a.id = w.account_id
          where w.id = waiting.webhook_id and (not w.active or a.suspended_at is not null)
        ) and exists (
        select from deliveries d
        where d.status = 'pending' and d.leased_by is null and d.webhook_id = waiting.webhook_id
          and d.next_attempt_at < now() - make_interval(secs => ${olderThanMs / 1_000}::float8)
      )`;
    await addJobs(
      tx,
      rows.map((row) => deliverLane(row.webhook_id)),
    );
    return rows.length;
  });
}
