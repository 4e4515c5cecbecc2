import { LIMITS } from '@headwater/shared';
import type { AttemptRecord } from '../contract.ts';
import type { DeliveryErrorClass } from '../contract-deliveries.ts';
import type { Sql, Transaction } from './database.ts';
import { retryLane } from './deliver-lane.ts';
import { type AttemptEnd, recordWithRetries } from './record-with-retries.ts';

/** What an attempt leads to. */
export type AttemptResult = {
  webhookId: string;
  deliveryId: string;
  attempt: AttemptRecord;
  /** How it failed; absent where it did not. */
  errorClass?: DeliveryErrorClass;
} & AttemptEnd;

/**
 * Records attempts and gives up their leases in one statement; where there are retries, their jobs are in the same
 * transaction. Answers for each result whether it was recorded: false where this node's lease was lost, and another node
 * has the say. A delivery cancelled meanwhile stays so, unless this attempt delivered it after all.
 */
export function recordAttempts(sql: Sql, nodeId: string, results: readonly AttemptResult[]): Promise<boolean[]> {
  return recordWithRetries(sql, results, {
    update: (tx, all) => update(tx, nodeId, all),
    laneOf: ({ webhookId }, nextAttemptAtMs) => retryLane(webhookId, nextAttemptAtMs),
  });
}

async function update(sql: Sql | Transaction, nodeId: string, results: readonly AttemptResult[]): Promise<boolean[]> {
  const rows = await sql<{ webhook_id: string; id: string }[]>`
    update deliveries d set
      status = case when d.status = 'cancelled' and r.status <> 'delivered' then d.status else r.status end,
      attempt_count = d.attempt_count + 1,
      attempts = case when jsonb_array_length(d.attempts) >= ${LIMITS.maxKeptDeliveryAttempts} then d.attempts - 0 else d.attempts end
        || r.attempt::jsonb,
      next_attempt_at = coalesce(to_timestamp(r.next_ms / 1000.0), d.next_attempt_at),
      error_class = r.error_class,
      leased_by = null
    from unnest(
      ${results.map((result) => result.webhookId)}::text[],
      ${results.map((result) => result.deliveryId)}::text[],
      ${results.map((result) => result.status)}::text[],
      ${results.map((result) => JSON.stringify(result.attempt))}::text[],
      ${results.map((result) => (result.status === 'pending' ? result.nextAttemptAtMs : null))}::float8[],
      ${results.map((result) => result.errorClass ?? null)}::text[]
    ) as r(webhook_id, id, status, attempt, next_ms, error_class)
    where d.webhook_id = r.webhook_id and d.id = r.id and d.leased_by = ${nodeId}
      and d.status in ('pending', 'cancelled')
    returning d.webhook_id, d.id`;
  const recorded = new Set(rows.map((row) => `${row.webhook_id} ${row.id}`));
  return results.map((result) => recorded.has(`${result.webhookId} ${result.deliveryId}`));
}
