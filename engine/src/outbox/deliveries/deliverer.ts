import { createActiveTenants, ID_PREFIXES, LIMITS, type ActiveTenants } from '@headwater/shared';
import type { HistoryCount, LimitsCache } from '../../accounts/index.ts';
import { createTenantConnections, type Egress, type TenantConnections } from '../../egress/index.ts';
import { addJobs, type Database, type DeliverAccountPayload, type DeliverWebhookPayload } from '../../db/index.ts';
import type { Log } from '../../contract/index.ts';
import type { Sealer } from '../../secrets/index.ts';
import type { StatCount, UseCount } from '../../events/index.ts';
import type { Inbox } from '../transports/webhook/inbox.ts';
import { claimDeliveries } from './claim-deliveries.sql.ts';
import { claimGoverned } from './claim-governed.sql.ts';
import { accountLane, deliverLane, retriedLane } from './deliver-lane.ts';
import { deliveryAttemptBytes } from '../attempt-bytes.ts';
import { type LaneWebhook, readLaneWebhook } from '../webhooks/read-lane-webhook.sql.ts';
import { releaseDeliveries, releaseUnbegun } from './release-deliveries.sql.ts';
import { createDrain, type Drain, type DrainStats } from '../drain.ts';
import type { AttemptEnd } from '../sender.ts';
import type { AttemptResult } from '../attempt.ts';
import { recordAttempts, type Successors } from './record-attempts.sql.ts';
import { type AccountLanes, createAccountLanes } from './account-lanes.ts';
import { createAccessTokens } from '../transports/webhook/access-tokens.ts';
import { createWebhookTransport, type WebhookTransportParts } from '../transports/webhook/webhook-transport.ts';
import { createDeliveryShares } from './delivery-shares.ts';
import { completeLimits, type DelivererLimits } from './deliverer-limits.ts';
import type { DueDelivery } from './due-delivery.ts';
import type { RetryPolicy } from '../retry-policy.ts';
import type { RunTransform } from '../transforms/transform.ts';
import { createSecretKeys } from '../webhooks/secret-keys.ts';

type DeliveryEnd = AttemptEnd<AttemptResult<DueDelivery>>;

export interface DelivererOptions {
  db: Database;
  /**
   * Node id of the leases. Read at each claim, record and release, because it changes after the
   * node was declared dead.
   */
  nodeId: () => string;
  sealer: Sealer;
  egress: Egress;
  retryPolicy: RetryPolicy;
  log: Log;
  /**
   * Called once for every attempt that was made. `durationMs`: from signing to the last byte that
   * was read.
   */
  onAttempt?: (
    outcome: 'delivered' | 'retried' | 'failed' | 'dropped',
    durationMs: number,
    result: AttemptResult<DueDelivery>,
  ) => void;
  /** As in OutcomeRecorderOptions. */
  onUnrecorded?: (error: unknown) => void;
  limits?: Partial<DelivererLimits>;
  accountLimits: Pick<LimitsCache, 'known' | 'get' | 'isSuspended'>;
  /** Default: attempts are not counted. */
  history?: HistoryCount;
  /** As in WebhookTransportParts. */
  inbox?: Inbox;
  /** As in WebhookTransportParts. */
  transform?: RunTransform;
  /** As in WebhookTransportParts. */
  traceHeaders?: WebhookTransportParts['traceHeaders'];
  /** Default: they are not counted by time. */
  stats?: StatCount & UseCount;
  /** As in SenderOptions. */
  activeTenants?: ActiveTenants;
}

/**
 * The drain of deliveries (drain.ts), with the lanes by which they are claimed. Rows are leased by
 * the commit that makes them, or by a lane.
 */
export interface Deliverer {
  /** How many more this node should lease: see Drain.room. */
  capacity(of?: DeliveriesOf): number;
  /** See Drain. */
  sharedCapacity(of: Required<DeliveriesOf>, fails?: boolean): number;
  /** See Drain. */
  heard(): number;
  /** See Drain. */
  take(deliveries: readonly DueDelivery[], readAt?: number): void;
  /** The webhook, or any, has changed: see Drain. */
  giveBack(webhookId?: string): Promise<void>;
  /** The account is no longer suspended. */
  resume(accountId: string): void;
  /** See Drain. */
  holds(deliveryId: string): boolean;
  /**
   * One turn of a webhook's lane: leases a bounded batch of what is due, now or when the turn of
   * its tenant has come. Rejects when the database does not answer.
   */
  runLane(payload: DeliverWebhookPayload): Promise<void>;
  /** The same of an account: of all its webhooks together. */
  runAccountLane(payload: DeliverAccountPayload): Promise<void>;
  stats(): DrainStats;
  /** See Drain. */
  attemptOnce(delivery: DueDelivery): Promise<DeliveryEnd>;
  /** See Drain. Whatever commits deliveries must have stopped before. */
  stop(): Promise<void>;
}

export interface DeliveriesOf {
  accountId: string;
  webhookId?: string;
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const deliverer = new NodeDeliverer(options);
  return {
    capacity: (of) => deliverer.capacity(of),
    sharedCapacity: (of, fails) => deliverer.sharedCapacity(of, fails),
    heard: () => deliverer.heard(),
    take: (deliveries, readAt) => deliverer.take(deliveries, readAt),
    giveBack: (webhookId) => deliverer.giveBack(webhookId),
    resume: (accountId) => deliverer.resume(accountId),
    holds: (deliveryId) => deliverer.holds(deliveryId),
    runLane: (payload) => deliverer.runLane(payload),
    runAccountLane: (payload) => deliverer.runAccountLane(payload),
    stats: () => deliverer.stats(),
    attemptOnce: (delivery) => deliverer.attemptOnce(delivery),
    stop: () => deliverer.stop(),
  };
}

class NodeDeliverer implements Deliverer {
  readonly #options: DelivererOptions;
  readonly #connections: TenantConnections;
  readonly #drain: Drain<DueDelivery>;
  readonly #accountLanes: AccountLanes;
  /** Webhooks whose next turn follows a retry by hand. */
  readonly #retried = new Set<string>();

  constructor(options: DelivererOptions) {
    this.#options = options;
    const { db, nodeId, log, retryPolicy, egress, accountLimits, activeTenants = createActiveTenants() } = options;
    const limits = completeLimits(options.limits);
    const shareOf = createDeliveryShares(accountLimits, log, (accountId) => this.#drain.shareKnown(accountId));
    const connections = createTenantConnections({ egress });
    // Forgotten since it began: its idle connections are not worth keeping either.
    const maxAtOnceOf = (accountId: string) => shareOf(accountId)?.maxAtOnce ?? 1;
    const { inbox, transform, traceHeaders } = options;
    this.#connections = connections;
    this.#drain = createDrain<DueDelivery>({
      noun: 'delivery',
      retryPolicy,
      transport: createWebhookTransport({
        connections,
        maxAtOnceOf,
        egress,
        secretKeys: createSecretKeys(options.sealer),
        tokens: createAccessTokens({ connections, egress, maxAtOnceOf }),
        inbox,
        transform,
        traceHeaders,
        log,
        timeoutMs: limits.timeoutMs,
      }),
      laneIdOf: ({ webhookId }) => webhookId,
      newsOf: ({ nextTrigger, settings }) =>
        nextTrigger === 'manual' || settings?.isFailing !== true ? 'mended' : 'fails',
      charsOf: ({ data }) => data.length,
      limits: { ...limits, maxPerLane: limits.maxPerWebhook, maxHeldPerLane: limits.maxHeldPerWebhook },
      shareOf,
      activeTenants,
      rows: {
        record: (results) => this.#record(results),
        giveBack: (deliveries, runAtMs) => releaseUnbegun(db.sql, nodeId(), deliveries, runAtMs),
        async giveBackAll(laneIds) {
          await addJobs(
            db.sql,
            laneIds.map((id) => (isAccount(id) ? accountLane(id) : deliverLane(id))),
          );
          await releaseDeliveries(db.sql, nodeId());
        },
      },
      onAttempt: (result) =>
        options.onAttempt?.(
          result.status === 'pending' ? 'retried' : result.status,
          result.attempt.duration_ms,
          result,
        ),
      onRecorded: (result) => this.#count(result),
      onUnrecorded: options.onUnrecorded,
      log,
    });
    this.#accountLanes = createAccountLanes({ sql: db.sql, nodeId, drain: this.#drain });
  }

  capacity(of?: DeliveriesOf): number {
    return this.#drain.room(of === undefined ? undefined : { accountId: of.accountId, laneId: of.webhookId });
  }

  sharedCapacity({ accountId, webhookId }: Required<DeliveriesOf>, fails?: boolean): number {
    return this.#drain.sharedRoom(webhookId, accountId, fails);
  }

  heard(): number {
    return this.#drain.heard();
  }

  take(deliveries: readonly DueDelivery[], readAt?: number): void {
    this.#drain.take(deliveries, readAt);
  }

  giveBack(webhookId?: string): Promise<void> {
    return this.#drain.giveBack(webhookId);
  }

  resume(accountId: string): void {
    this.#drain.shareKnown(accountId);
  }

  holds(deliveryId: string): boolean {
    return this.#drain.holds(deliveryId);
  }

  async runLane({ webhookId, byHand }: DeliverWebhookPayload): Promise<void> {
    const webhook = await readLaneWebhook(this.#options.db.sql, webhookId);
    // The webhook is held: its start adds another job.
    if (webhook?.active === false) return;
    // As above, of all its webhooks.
    if (webhook !== undefined && (await this.#isSuspended(webhook.accountId))) return;
    if (byHand === true) this.#retried.add(webhookId);
    await this.#drain.inTurn(webhook?.accountId ?? webhookId, webhookId, () => this.#claim(webhook, webhookId));
  }

  async runAccountLane({ accountId }: DeliverAccountPayload): Promise<void> {
    if (await this.#isSuspended(accountId)) return;
    await this.#drain.inTurn(accountId, accountId, () => this.#claimOfAccount(accountId));
  }

  stats(): DrainStats {
    return this.#drain.stats();
  }

  attemptOnce(delivery: DueDelivery): Promise<DeliveryEnd> {
    return this.#drain.attemptOnce(delivery);
  }

  stop(): Promise<void> {
    return this.#drain.stop(this.#connections.stop);
  }

  /** Takes on the next deliveries of ordered webhooks at once, without a turn of their lanes. */
  async #record(results: readonly AttemptResult<DueDelivery>[]): Promise<boolean[]> {
    const { db, nodeId, accountLimits } = this.#options;
    const mayTake: Successors['mayTake'] = (of) => this.capacity(of) > 0 && !accountLimits.isSuspended(of.accountId);
    const successors: Successors = { mayTake, taken: [] };
    const readAt = this.#drain.heard();
    const recorded = await recordAttempts(db.sql, nodeId(), results, successors);
    this.#drain.take(successors.taken, readAt);
    return recorded;
  }

  async #isSuspended(accountId: string): Promise<boolean> {
    const { accountLimits } = this.#options;
    await accountLimits.get(accountId);
    return accountLimits.isSuspended(accountId);
  }

  /** Answers how many characters their events have. */
  async #claim(webhook: LaneWebhook | undefined, webhookId: string): Promise<number> {
    const { db, nodeId } = this.#options;
    const accountId = webhook?.accountId;
    const byHand = this.#retried.delete(webhookId);
    // Deliveries of a deleted webhook are claimed too, and the claim cancels them.
    if (accountId !== undefined && this.#options.accountLimits.isSuspended(accountId)) return 0;
    if (!byHand && webhook?.isGoverned === false && this.#takesTurns(webhook, webhookId)) {
      await addJobs(db.sql, [accountLane(webhook.accountId)]);
      return 0;
    }
    const room = accountId === undefined ? this.capacity() : this.capacity({ accountId, webhookId });
    const limit = Math.min(LIMITS.deliveryLaneBatch, room);
    if (limit > 0) {
      const claim = webhook?.isGoverned === true ? claimGoverned : claimDeliveries;
      return this.#drain.claim(limit, () => claim(db.sql, nodeId(), webhookId, limit));
    }
    if (byHand) await addJobs(db.sql, [retriedLane(webhookId, Date.now() + LIMITS.deliveryLaneRetryMs)]);
    // No lane of an account comes upon a webhook that is gone.
    else if (accountId !== undefined) await this.#accountLanes.postpone(accountId);
    else await addJobs(db.sql, [deliverLane(webhookId, Date.now() + LIMITS.deliveryLaneRetryMs)]);
    return 0;
  }

  /** Webhooks that may fail take turns, in the lane of their account. */
  #takesTurns({ accountId, isFailing }: LaneWebhook, webhookId: string): boolean {
    return this.#drain.sharedRoom(webhookId, accountId, isFailing) < Number.POSITIVE_INFINITY;
  }

  async #claimOfAccount(accountId: string): Promise<number> {
    const room = Math.min(LIMITS.accountLaneBatch, this.capacity({ accountId }));
    if (room > 0) return this.#drain.claim(room, () => this.#accountLanes.claim(accountId, room));
    await this.#accountLanes.postpone(accountId);
    return 0;
  }

  #count(result: AttemptResult<DueDelivery>): void {
    const { history, stats } = this.#options;
    history?.add(result.item.accountId, deliveryAttemptBytes(result.attempt));
    if (stats !== undefined) countAttempt(stats, result);
  }
}

const isAccount = (laneId: string) => laneId.startsWith(ID_PREFIXES.account);

function countAttempt(
  stats: StatCount & UseCount,
  { item: { accountId, emitterId, webhookId }, status, bytes }: AttemptResult<DueDelivery>,
): void {
  if (status === 'dropped') return;
  stats.use(accountId, 'attempts', 1);
  stats.use(accountId, 'bytesOut', bytes?.sent ?? 0);
  stats.use(accountId, 'bytesIn', bytes?.received ?? 0);
  const subjects = [emitterId, webhookId];
  stats.add(accountId, subjects, status === 'delivered' ? 'delivered' : 'failedAttempts', 1);
  if (status === 'failed') stats.add(accountId, subjects, 'exhausted', 1);
}
