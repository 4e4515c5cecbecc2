import { LIMITS } from '@headwater/shared';
import type { JobSpec, Sql, Transaction } from '../../db/index.ts';
import { leaseNextOfKeys } from './claim-deliveries.sql.ts';
import { accountLane, deliverLane } from './deliver-lane.ts';
import { isOrderedAlone } from '../webhooks/receiver-columns.sql.ts';
import { lockWebhooks, releaseNext } from './ordered-deliveries.sql.ts';
import { putOffWebhooks } from '../webhooks/put-off-webhooks.sql.ts';
import type { RateSign } from '../webhooks/adaptive-rate.ts';
import { noteRates } from '../webhooks/note-rates.sql.ts';
import { type HealthSigns, noteHealth } from '../webhooks/webhook-health.sql.ts';
import type { AttemptResult } from '../attempt.ts';
import { recordWithRetries } from '../record-with-retries.sql.ts';
import type { DueDelivery } from './due-delivery.ts';

const GONE = 410;
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

export type DeliveryResult = AttemptResult<Pick<DueDelivery, 'accountId' | 'webhookId' | 'id' | 'settings'>>;

/**
 * Records attempts and gives up their leases in one statement; where there are retries, the job of
 * their account and second is in the same transaction. Answers for each result whether it was
 * recorded: false where this node's lease was lost, and another node has the say. A delivery
 * cancelled meanwhile stays so, unless this attempt delivered it after all. The next delivery of an
 * ordered webhook goes to `successors` where it may, else its lane has a job.
 */
export function recordAttempts(
  sql: Sql,
  nodeId: string,
  results: readonly DeliveryResult[],
  successors?: Successors,
): Promise<boolean[]> {
  return recordWithRetries(sql, results, {
    update: (tx, all) => update(tx, nodeId, all),
    laneOf: ({ item }, nextAttemptAtMs) => accountLane(item.accountId, nextAttemptAtMs),
    also: results.some(isSign)
      ? (tx, recorded) => {
          // A transaction may be tried again: the leases of the try before were rolled back.
          if (successors !== undefined) successors.taken = [];
          return noteAll(tx, recorded, { nodeId, successors });
        }
      : undefined,
  });
}

/** Deliveries that this node may send next, of keys whose one before has ended. */
export interface Successors {
  /** Whether it has room, and the account is not suspended. */
  mayTake: (of: { accountId: string; webhookId: string }) => boolean;
  /** Those that it has leased, once the record is committed. */
  taken: DueDelivery[];
}

/** Its end may let another of its webhook begin. */
const wakesLane = ({ item }: DeliveryResult) => item.settings?.wakesLane === true;

/** It succeeded, and the attempts of its webhook before have failed, as far as it was known. */
const hasRecovered = ({ status, item }: DeliveryResult) => status === 'delivered' && item.settings?.isFailing === true;

/** It says at which rate more may begin. */
const isOfRate = ({ item, status, errorClass }: DeliveryResult) =>
  item.settings?.isAdaptive === true && status !== 'dropped' && errorClass !== 'internal' && errorClass !== 'transform';

const isSign = (result: DeliveryResult) =>
  hasFailed(result.status) || hasRecovered(result) || wakesLane(result) || isOfRate(result);

const webhookIdsOf = (some: readonly DeliveryResult[]) => [...new Set(some.map(({ item }) => item.webhookId))];

/** A dropped delivery makes no request, so it says nothing about the health of its receiver. */
const hasFailed = (status: DeliveryResult['status']) => status === 'pending' || status === 'failed';

async function noteAll(
  tx: Transaction,
  recorded: readonly DeliveryResult[],
  taking: { nodeId: string; successors: Successors | undefined },
): Promise<JobSpec[]> {
  const woken = recorded.filter(wakesLane);
  const signs = signsOf(recorded);
  const putOff = untilsOf(recorded);
  const ofRates = recorded.filter(isOfRate);
  // All that is locked at once, or two records could wait for each other.
  if (woken.length > 0 || putOff.size > 0 || ofRates.length > 0) {
    await lockWebhooks(tx, [
      ...webhookIdsOf([...woken, ...ofRates]),
      ...putOff.keys(),
      ...signs.failing,
      ...signs.gone,
      ...signs.recovered,
    ]);
  }
  if (recorded.some((result) => hasFailed(result.status) || hasRecovered(result))) await noteHealth(tx, signs);
  if (putOff.size > 0) await putOffWebhooks(tx, putOff);
  if (ofRates.length > 0) await noteRates(tx, rateSignsOf(ofRates));
  return woken.length === 0 ? [] : goOn(tx, woken, taking);
}

/**
 * Lets the next ones of their keys begin. Answers the lanes that have to come for it: none for a
 * webhook that only its order holds back, where the next ones are this node's already.
 */
async function goOn(
  tx: Transaction,
  woken: readonly DeliveryResult[],
  { nodeId, successors }: { nodeId: string; successors: Successors | undefined },
): Promise<JobSpec[]> {
  const ids = webhookIdsOf(woken);
  const alone = successors === undefined ? new Set<string>() : await readOrderedAlone(tx, ids);
  const lanes = new Set(ids.filter((id) => !alone.has(id)));
  const ended = woken.filter(({ status }) => status !== 'pending').map(({ item }) => item);
  const own = ended.filter(
    ({ webhookId, accountId }) => alone.has(webhookId) && successors?.mayTake({ accountId, webhookId }),
  );
  const over = woken.map(({ item: { webhookId, id } }) => ({ webhookId, id }));
  if (successors !== undefined && own.length > 0) {
    const { taken, cancelled, isCut } = await leaseNextOfKeys(tx, nodeId, own);
    successors.taken.push(...taken);
    over.push(...cancelled);
    // The rest is found by their lanes.
    if (isCut) for (const { webhookId } of own) lanes.add(webhookId);
  }
  for (const id of await releaseNext(tx, over)) lanes.add(id);
  return [...lanes].map((id) => deliverLane(id));
}

async function readOrderedAlone(tx: Transaction, ids: readonly string[]): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select id from webhooks w where id = any(${[...ids]}::text[]) and ${isOrderedAlone(tx)}`;
  return new Set(rows.map(({ id }) => id));
}

/** By webhook, the latest. */
function untilsOf(results: readonly DeliveryResult[]): Map<string, number> {
  const untils = new Map<string, number>();
  for (const { item, putOffUntilMs = 0 } of results)
    if (putOffUntilMs > (untils.get(item.webhookId) ?? 0)) untils.set(item.webhookId, putOffUntilMs);
  return untils;
}

function rateSignsOf(results: readonly DeliveryResult[]): Map<string, RateSign[]> {
  const signs = Map.groupBy(results, ({ item }) => item.webhookId);
  return new Map([...signs].map(([webhookId, own]) => [webhookId, own.map(rateSignOf)]));
}

function rateSignOf({ attempt, errorClass }: DeliveryResult): RateSign {
  const { at, status_code: status, duration_ms } = attempt;
  const isOverload = errorClass === 'timeout' || status === TOO_MANY_REQUESTS || status === UNAVAILABLE;
  const latencyMs = status === undefined || isOverload ? undefined : duration_ms;
  return { beganAtMs: Date.parse(at), isOverload, ...(latencyMs === undefined ? {} : { latencyMs }) };
}

/** A webhook of which one attempt has succeeded does not fail. */
function signsOf(results: readonly DeliveryResult[]): HealthSigns {
  const succeeded = new Set(webhookIdsOf(results.filter(({ status }) => status === 'delivered')));
  const failed = results.filter(({ status, item }) => hasFailed(status) && !succeeded.has(item.webhookId));
  const exhausted = results.filter(({ status }) => status === 'failed');
  return {
    failing: webhookIdsOf(failed),
    gone: webhookIdsOf(failed.filter(({ attempt }) => attempt.status_code === GONE)),
    recovered: webhookIdsOf(results.filter(hasRecovered)),
    exhausted: exhausted.map(({ item }) => ({ webhookId: item.webhookId, deliveryId: item.id })),
  };
}

async function update(sql: Sql | Transaction, nodeId: string, results: readonly DeliveryResult[]): Promise<boolean[]> {
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
      ${results.map(({ item }) => item.webhookId)}::text[],
      ${results.map(({ item }) => item.id)}::text[],
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
  return results.map((result) => recorded.has(`${result.item.webhookId} ${result.item.id}`));
}

function withResponses(sql: Sql | Transaction, results: readonly DeliveryResult[]) {
  const kept = results.flatMap(({ item, response }) => (response === undefined ? [] : [{ item, ...response }]));
  if (kept.length === 0) return sql``;
  return sql`, responses as (
    insert into delivery_responses (webhook_id, delivery_id, at_ms, body)
    select k.* from unnest(
      ${kept.map(({ item }) => item.webhookId)}::text[], ${kept.map(({ item }) => item.id)}::text[],
      ${kept.map(({ atMs }) => atMs)}::int8[], ${kept.map(({ body }) => `\\x${body.toString('hex')}`)}::text[]::bytea[]
    ) as k(webhook_id, id, at_ms, body) join recorded using (webhook_id, id)
    on conflict do nothing
  )`;
}
