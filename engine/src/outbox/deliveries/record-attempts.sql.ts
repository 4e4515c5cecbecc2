import { LIMITS } from '@headwater/shared';
import type { DeliveryAttempt, DeliveryErrorClass } from '../../contract/deliveries.ts';
import type { Sql, Transaction } from '../../db/database.ts';
import { accountLane, deliverLane } from './deliver-lane.ts';
import { lockWebhooks, releaseNext } from './ordered-deliveries.sql.ts';
import { putOffWebhooks } from '../webhooks/put-off-webhooks.sql.ts';
import { type HealthSigns, noteHealth } from '../webhooks/webhook-health.sql.ts';
import { type DeliveryEnd, recordWithRetries } from '../record-with-retries.sql.ts';

const GONE = 410;

/** What an attempt leads to. */
export type AttemptResult = {
  accountId: string;
  webhookId: string;
  deliveryId: string;
  attempt: DeliveryAttempt;
  /** The whole answer, if the attempt's record has not all of it. */
  response?: { atMs: number; body: Buffer };
  /** How it failed; absent where it did not. */
  errorClass?: DeliveryErrorClass;
  /** The attempts of its webhook before have failed, as far as it was known. */
  wasFailing?: true;
  /** Its end may let another of its webhook begin. */
  wakesLane?: true;
  /** Its receiver asked to be sent nothing before. */
  putOffUntilMs?: number;
} & DeliveryEnd;

/**
 * Records attempts and gives up their leases in one statement; where there are retries, the job of
 * their account and second is in the same transaction. Answers for each result whether it was
 * recorded: false where this node's lease was lost, and another node has the say. A delivery
 * cancelled meanwhile stays so, unless this attempt delivered it after all.
 */
export function recordAttempts(sql: Sql, nodeId: string, results: readonly AttemptResult[]): Promise<boolean[]> {
  return recordWithRetries(sql, results, {
    update: (tx, all) => update(tx, nodeId, all),
    laneOf: ({ accountId }, nextAttemptAtMs) => accountLane(accountId, nextAttemptAtMs),
    lanes: [...new Set(results.filter(({ wakesLane }) => wakesLane).map(({ webhookId }) => webhookId))].map((id) =>
      deliverLane(id),
    ),
    also: results.some(isSign) ? noteAll : undefined,
  });
}

const isSign = ({ status, wasFailing, wakesLane }: AttemptResult) =>
  hasFailed(status) || wasFailing === true || wakesLane === true;

/** A receiver is not asked for what was dropped: it says nothing of its health. */
const hasFailed = (status: AttemptResult['status']) => status === 'pending' || status === 'failed';

async function noteAll(tx: Transaction, recorded: readonly AttemptResult[]): Promise<void> {
  const woken = recorded.filter(({ wakesLane }) => wakesLane);
  const signs = signsOf(recorded);
  const putOff = untilsOf(recorded);
  // All that is locked at once, or two records could wait for each other.
  if (woken.length > 0 || putOff.size > 0) {
    const ids = woken.map(({ webhookId }) => webhookId);
    await lockWebhooks(tx, [...ids, ...putOff.keys(), ...signs.failing, ...signs.gone, ...signs.recovered]);
  }
  if (recorded.some((result) => hasFailed(result.status) || result.wasFailing)) await noteHealth(tx, signs);
  if (putOff.size > 0) await putOffWebhooks(tx, putOff);
  if (woken.length === 0) return;
  await releaseNext(
    tx,
    woken.map(({ webhookId, deliveryId: id }) => ({ webhookId, id })),
  );
}

/** By webhook, the latest. */
function untilsOf(results: readonly AttemptResult[]): Map<string, number> {
  const untils = new Map<string, number>();
  for (const { webhookId, putOffUntilMs = 0 } of results)
    if (putOffUntilMs > (untils.get(webhookId) ?? 0)) untils.set(webhookId, putOffUntilMs);
  return untils;
}

/** A webhook of which one attempt has succeeded does not fail. */
function signsOf(results: readonly AttemptResult[]): HealthSigns {
  const succeeded = new Set(results.filter(({ status }) => status === 'delivered').map(({ webhookId }) => webhookId));
  const failed = results.filter(({ status, webhookId }) => hasFailed(status) && !succeeded.has(webhookId));
  const idsOf = (some: readonly AttemptResult[]) => [...new Set(some.map(({ webhookId }) => webhookId))];
  return {
    failing: idsOf(failed),
    gone: idsOf(failed.filter(({ attempt }) => attempt.status_code === GONE)),
    recovered: idsOf(results.filter(({ status, wasFailing }) => status === 'delivered' && wasFailing === true)),
    exhausted: results.filter(({ status }) => status === 'failed'),
  };
}

async function update(sql: Sql | Transaction, nodeId: string, results: readonly AttemptResult[]): Promise<boolean[]> {
  const rows = await sql<{ webhook_id: string; id: string }[]>`
    with recorded as (update deliveries d set
      status = case when d.status = 'cancelled' and r.status <> 'delivered' then d.status else r.status end,
      attempt_count = d.attempt_count + 1,
      attempts = case when jsonb_array_length(d.attempts) >= ${LIMITS.maxKeptDeliveryAttempts} then d.attempts - 0 else d.attempts end
        || r.attempt::jsonb,
      next_attempt_at = coalesce(to_timestamp(r.next_ms / 1000.0), d.next_attempt_at),
      error_class = r.error_class,
      next_trigger = null,
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
    returning d.webhook_id, d.id)${withResponses(sql, results)}
    select webhook_id, id from recorded`;
  const recorded = new Set(rows.map((row) => `${row.webhook_id} ${row.id}`));
  return results.map((result) => recorded.has(`${result.webhookId} ${result.deliveryId}`));
}

function withResponses(sql: Sql | Transaction, results: readonly AttemptResult[]) {
  const kept = results.flatMap(({ webhookId, deliveryId, response }) =>
    response === undefined ? [] : [{ webhookId, deliveryId, ...response }],
  );
  if (kept.length === 0) return sql``;
  return sql`, responses as (
    insert into delivery_responses (webhook_id, delivery_id, at_ms, body)
    select k.* from unnest(
      ${kept.map(({ webhookId }) => webhookId)}::text[], ${kept.map(({ deliveryId }) => deliveryId)}::text[],
      ${kept.map(({ atMs }) => atMs)}::int8[], ${kept.map(({ body }) => `\\x${body.toString('hex')}`)}::text[]::bytea[]
    ) as k(webhook_id, id, at_ms, body) join recorded using (webhook_id, id)
    on conflict do nothing
  )`;
}
