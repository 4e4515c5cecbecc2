import { LIMITS } from '@headwater/shared';
import { addJobs } from './add-jobs.ts';
import type { Sql } from './database.ts';
import { deliverLane } from './deliver-lane.ts';

/**
 * Makes deliveries of a webhook due again, from the beginning of their schedule: the one named, however it ended, or those that
 * have failed, the oldest first, up to LIMITS.maxRedeliveries. Answers how many. What an attempt still holds, or whose event was
 * deleted, is left alone. The lease of a node that is gone holds nothing: it stays with one that was cancelled under way.
 */
export async function redeliver(sql: Sql, accountId: string, webhookId: string, deliveryId?: string): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      with chosen as (
        select d.id from deliveries d
        where d.account_id = ${accountId} and d.webhook_id = ${webhookId}
          and (d.leased_by is null or not exists (select from nodes n where n.id = d.leased_by))
          and ${deliveryId === undefined ? tx`d.status = 'failed'` : tx`d.id = ${deliveryId} and d.status <> 'pending'`}
          and exists (
            select from events e where e.account_id = d.account_id and e.emitter_id = d.emitter_id
              and e.indexed_at_ms = d.indexed_at_ms and e.seq = d.seq
          )
        order by d.id limit ${LIMITS.maxRedeliveries} for update of d skip locked
      )
      update deliveries d set status = 'pending', attempt_count = 0, next_attempt_at = now(), leased_by = null from chosen
      where d.webhook_id = ${webhookId} and d.id = chosen.id
      returning d.id`;
    if (rows.length > 0) await addJobs(tx, [deliverLane(webhookId)]);
    return rows.length;
  });
}
