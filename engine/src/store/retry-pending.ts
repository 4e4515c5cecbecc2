import { LIMITS } from '@headwater/shared';
import { addJobs } from './add-jobs.ts';
import type { Sql } from './database.ts';
import { deliverLane } from './deliver-lane.ts';
import { inIndexOrder } from './read-events.ts';

/**
 * Deliveries that are made due in one transaction: another one that waits for one of the rows waits
 * for a fraction of a second.
 */
const RETRIED_AT_ONCE = 1_000;

/**
 * Makes pending deliveries of a webhook that wait for a retry due now, from the beginning of their
 * schedule: those of `ids`, or all, up to LIMITS.maxRetriedNow. Answers how many. An attempt under
 * way is left to end.
 */
export async function retryPending(
  sql: Sql,
  accountId: string,
  webhookId: string,
  ids?: readonly string[],
): Promise<number> {
  let count = 0;
  for (let limit = RETRIED_AT_ONCE; limit > 0; limit = Math.min(RETRIED_AT_ONCE, LIMITS.maxRetriedNow - count)) {
    const made = await retrySome(sql, { accountId, webhookId, ids, limit });
    count += made;
    if (made < limit) break;
  }
  return count;
}

interface Some {
  accountId: string;
  webhookId: string;
  ids: readonly string[] | undefined;
  limit: number;
}

function retrySome(sql: Sql, { accountId, webhookId, ids, limit }: Some): Promise<number> {
  return inIndexOrder(sql, async (tx) => {
    const { count } = await tx`
      with chosen as (
        select webhook_id, id from deliveries
        where account_id = ${accountId} and webhook_id = ${webhookId} and status = 'pending' and leased_by is null
          and next_attempt_at > now() and next_attempt_at < 'infinity' ${ids === undefined ? tx`` : tx`and id = any(${[...ids]}::text[])`}
        order by leased_by, next_attempt_at limit ${limit} for update skip locked
      )
      update deliveries d set attempt_count = 0, next_attempt_at = now(), next_trigger = 'manual' from chosen
      where d.webhook_id = chosen.webhook_id and d.id = chosen.id`;
    if (count > 0) await addJobs(tx, [deliverLane(webhookId)]);
    return count;
  });
}
