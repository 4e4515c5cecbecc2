import { LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from '../../db/index.ts';
import type { AttemptResult } from '../attempt.ts';
import { recordWithRetries } from '../record-with-retries.sql.ts';
import type { DueSend } from './due-send.ts';
import { laterSendLane } from './send-lane.ts';

/** The result of an attempt for one send, or for all sends of one upload. */
export type SendResult = AttemptResult<Pick<DueSend, 'accountId' | 'id'>>;

/**
 * Records attempts and ends their leases, with the jobs of retries, in one transaction. Returns for
 * each result whether it was recorded: false if this node's lease was lost. Sealed content is
 * deleted once it is delivered.
 */
export function recordSendAttempts(sql: Sql, nodeId: string, results: readonly SendResult[]): Promise<boolean[]> {
  return recordWithRetries(sql, results, {
    update: (tx, all) => update(tx, nodeId, all),
    laneOf: ({ item }, nextAttemptAtMs) => laterSendLane(item.accountId, nextAttemptAtMs),
  });
}

async function update(sql: Sql | Transaction, nodeId: string, results: readonly SendResult[]): Promise<boolean[]> {
  const rows = await sql<{ unit_id: string }[]>`
    update sends s set
      status = r.status,
      attempt_count = s.attempt_count + 1,
      -- begun anew as often as its owner likes: only the newest are kept
      attempts = case when jsonb_array_length(s.attempts) >= ${LIMITS.maxKeptSendAttempts} then s.attempts - 0 else s.attempts end
        || r.attempt::jsonb,
      next_attempt_at = coalesce(to_timestamp(r.next_ms / 1000.0), s.next_attempt_at),
      sealed = case when r.status = 'delivered' then null else s.sealed end,
      leased_by = null
    from unnest(
      ${results.map(({ item }) => item.id)}::text[],
      ${results.map((result) => result.status)}::text[],
      ${results.map((result) => JSON.stringify(result.attempt))}::text[],
      ${results.map((result) => (result.status === 'pending' ? result.nextAttemptAtMs : null))}::float8[]
    ) as r(unit_id, status, attempt, next_ms)
    where s.unit_id = r.unit_id and s.leased_by = ${nodeId} and s.status = 'pending'
    returning s.unit_id`;
  const recorded = new Set(rows.map((row) => row.unit_id));
  return results.map(({ item }) => recorded.has(item.id));
}
