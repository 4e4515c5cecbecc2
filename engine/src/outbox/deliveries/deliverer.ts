import { createActiveTenants, ID_PREFIXES, LIMITS, type ActiveTenants } from '@headwater/shared';
import type { LimitsCache } from '../../accounts/limits-cache.ts';
import type { Egress } from '../../egress/egress.ts';
import { createTenantConnections, type TenantConnections } from '../../egress/tenant-connections.ts';
import { createLaneTurns, type LaneTurns } from '../../db/jobs/lane-turns.ts';
import type { DeliverAccountPayload, DeliverWebhookPayload } from '../../db/jobs/tasks.ts';
import type { Log } from '../../contract/log.ts';
import type { Sealer } from '../../secrets/seal.ts';
import type { StatCount } from '../../events/stat-meter.ts';
import { addJobs } from '../../db/jobs/add-jobs.ts';
import type { Inbox } from '../transports/webhook/inbox.ts';
import { claimDeliveries } from './claim-deliveries.sql.ts';
import { claimGoverned } from './claim-governed.sql.ts';
import type { Database } from '../../db/database.ts';
import { accountLane, deliverLane } from './deliver-lane.ts';
import { deliveryAttemptBytes } from '../attempt-bytes.ts';
import type { HistoryCount } from '../../accounts/history-row-bytes.ts';
import { type LaneWebhook, readLaneWebhook } from '../webhooks/read-lane-webhook.sql.ts';
import { releaseDeliveries, releaseUnbegun } from './release-deliveries.sql.ts';
import { createHeldItems } from '../held-items.ts';
import { createOutcomeRecorder, type OutcomeRecorder } from '../record-outcomes.ts';
import { type AttemptEnd, createSender, type OutgoingShare, type Sender } from '../sender.ts';
import type { Transport } from '../transport.ts';
import { type AttemptResult, startAttempt } from '../attempt.ts';
import { recordAttempts } from './record-attempts.sql.ts';
import { type AccountLanes, createAccountLanes } from './account-lanes.ts';
import { createAccessTokens } from '../transports/webhook/access-tokens.ts';
import { createWebhookTransport } from '../transports/webhook/webhook-transport.ts';
import { createDeliveryShares } from './delivery-shares.ts';
import { completeLimits, type DelivererLimits } from './deliverer-limits.ts';
import type { DueDelivery } from './due-delivery.ts';
import type { RetryPolicy } from '../retry-policy.ts';
import type { RunTransform } from '../transforms/transform.ts';
import { createSecretKeys } from '../webhooks/secret-keys.ts';
import { createWebhookChanges } from '../webhooks/webhook-changes.ts';

export type DeliveryEnd = AttemptEnd<AttemptResult<DueDelivery>>;

export interface DelivererOptions {
  db: Database;
  /**
   * Whose leases these are, asked whenever one is taken, recorded or given up: it changes when a
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
  onAttempt?: (outcome: 'delivered' | 'retried' | 'failed' | 'dropped', durationMs: number) => void;
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
  /** Default: they are not counted by time. */
  stats?: StatCount;
  /** As in SenderOptions. */
  activeTenants?: ActiveTenants;
}

interface DelivererStats {
  /** In memory and not started. */
  held: number;
  inFlight: number;
  /** Attempted, and not recorded yet. */
  recording: number;
  /** Since the start, by what was recorded of each attempt. */
  delivered: number;
  retried: number;
  failed: number;
  dropped: number;
  /** Attempts whose lease was lost before they could be recorded: another node makes them again. */
  lost: number;
}

/**
 * Sends the deliveries that this node has leased. Durable before and after: rows are leased in the
 * database first, and each attempt's outcome, the end of its lease and the job for its retry are
 * committed together. A node that dies in between leaves the row leased; whoever finds it dead
 * releases it, and the receiver may get that event again (at least once).
 */
export interface Deliverer {
  /**
   * How many more deliveries this node should lease: of all tenants, of one, or of one webhook. A
   * tenant may hold as much as is still free for others, and of that a webhook as much as is still
   * free for its tenant's others, so that the backlog of one never leaves another without room; and
   * no more than may begin soon. 0 while stopping.
   */
  capacity(of?: DeliveriesOf): number;
  /**
   * Which changes of webhooks this node has heard of: asked before deliveries are read that are to
   * be taken.
   */
  heard(): number;
  /**
   * Takes on deliveries that this node has leased already. Never refuses; what is too much is
   * released again, and so is what is of a webhook that has changed since: `heard` answered
   * `readAt` before they were read. Default: they are as they are now.
   */
  take(deliveries: readonly DueDelivery[], readAt?: number): void;
  /**
   * A webhook, or any, leads elsewhere now or nowhere: of what this node holds of it nothing begins
   * any more, from the call on. It is given back, to be claimed as the webhook is now. Resolves
   * when it is. Never rejects.
   */
  giveBack(webhookId?: string): Promise<void>;
  /** The account is no longer suspended. */
  resume(accountId: string): void;
  /** From `take` to what was recorded of its attempt. */
  holds(deliveryId: string): boolean;
  /**
   * One turn of a webhook's lane: leases a bounded batch of what is due, now or when the turn of
   * its tenant has come. Rejects when the database does not answer.
   */
  runLane(payload: DeliverWebhookPayload): Promise<void>;
  /** The same of an account: of all its webhooks together. */
  runAccountLane(payload: DeliverAccountPayload): Promise<void>;
  stats(): DelivererStats;
  /** One attempt, at once, of a delivery that is stored nowhere. Never rejects. */
  attemptOnce(delivery: DueDelivery): Promise<DeliveryEnd>;
  /**
   * Starts nothing new, lets attempts in flight finish for drainMs, cuts off the rest, and releases
   * every lease of this node. Whatever commits deliveries must have stopped before. Idempotent.
   */
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
  readonly #limits: DelivererLimits;
  readonly #connections: TenantConnections;
  readonly #sender: Sender<DueDelivery>;
  readonly #transport: Transport<DueDelivery>;
  readonly #recorder: OutcomeRecorder<AttemptResult<DueDelivery>>;
  readonly #shareOf: (accountId: string) => OutgoingShare | undefined;
  #claiming = 0;
  readonly #held = createHeldItems<DueDelivery>(
    ({ data }) => data.length,
    ({ id }) => id,
  );
  readonly #changes = createWebhookChanges();
  readonly #laneTurns: LaneTurns;
  readonly #accountLanes: AccountLanes;
  #stopping: Promise<void> | undefined;

  constructor(options: DelivererOptions) {
    const { db, nodeId, log, egress } = options;
    this.#options = options;
    this.#limits = completeLimits(options.limits);
    this.#connections = createTenantConnections({ egress });
    this.#accountLanes = createAccountLanes({ sql: db.sql, nodeId, capacity: (of) => this.capacity(of) });
    const { activeTenants = createActiveTenants() } = options;
    this.#laneTurns = createLaneTurns({ activeTenants, log });
    this.#recorder = createOutcomeRecorder({
      record: (results) => recordAttempts(db.sql, nodeId(), results),
      withoutTexts,
      describe: ({ item }) => ({ delivery: item.id }),
      onUnrecorded: options.onUnrecorded,
      log,
    });
    const { timeoutMs, maxInFlight } = this.#limits;
    this.#shareOf = createDeliveryShares(options.accountLimits, log, (accountId) => this.#sender.shareKnown(accountId));
    const secretKeys = createSecretKeys(options.sealer);
    const connections = this.#connections;
    // Forgotten since it began: its idle connections are not worth keeping either.
    const maxAtOnceOf = (accountId: string) => this.#shareOf(accountId)?.maxAtOnce ?? 1;
    const { inbox, transform } = options;
    const tokens = createAccessTokens({ connections, egress, maxAtOnceOf });
    this.#transport = createWebhookTransport({
      connections,
      maxAtOnceOf,
      egress,
      secretKeys,
      tokens,
      inbox,
      transform,
      log,
      timeoutMs,
    });
    this.#sender = createSender({
      attempt: (delivery) => startAttempt(options, this.#transport, delivery),
      laneIdOf: ({ webhookId }) => webhookId,
      charsOf: ({ data }) => data.length,
      limits: {
        maxPerLane: this.#limits.maxPerWebhook,
        maxHeldPerLane: this.#limits.maxHeldPerWebhook,
        maxInFlight,
      },
      shareOf: this.#shareOf,
      onEnd: (delivery, end) => void this.#settle(delivery, end),
      onShed: (deliveries) => void this.#release(deliveries, Date.now() + LIMITS.deliveryLaneRetryMs),
      activeTenants,
    });
  }

  capacity(of?: DeliveriesOf): number {
    const { maxHeld, maxHeldBytes } = this.#limits;
    if (this.#stopping !== undefined || this.#held.bytes() >= maxHeldBytes) return 0;
    const held = this.#sender.waiting() + this.#sender.inFlight() + this.#recorder.size() + this.#claiming;
    const free = Math.max(0, maxHeld - held);
    if (of === undefined) return free;
    const own = this.#held.of(of.accountId);
    if (own.bytes >= maxHeldBytes - this.#held.bytes()) return 0;
    // Each one taken makes the tenant's part larger by one and what is free smaller by one.
    const half = Math.max(0, Math.floor((free - own.count) / 2));
    // What may not begin soon would only wait here, where it takes room from others.
    const most = Math.min(half, this.#sender.soon(of.accountId));
    if (of.webhookId === undefined) return most;
    // The same within the tenant: the backlog of one webhook leaves room for its others.
    const share = Math.max(0, Math.ceil((half - this.#sender.held(of.webhookId)) / 2));
    return Math.min(most, share, this.#sender.room(of.webhookId));
  }

  heard(): number {
    return this.#changes.heard();
  }

  take(deliveries: readonly DueDelivery[], readAt = this.#changes.heard()): void {
    for (const delivery of deliveries) this.#held.add(delivery);
    const isOld = ({ webhookId }: DueDelivery) => this.#changes.hasChangedSince(webhookId, readAt);
    void this.#release(deliveries.filter(isOld));
    this.#sender.push(deliveries.filter((delivery) => !isOld(delivery)));
  }

  giveBack(webhookId?: string): Promise<void> {
    this.#changes.note(webhookId);
    return this.#release(this.#sender.drop(webhookId));
  }

  resume(accountId: string): void {
    this.#sender.shareKnown(accountId);
  }

  holds(deliveryId: string): boolean {
    return this.#held.has(deliveryId);
  }

  async runLane({ webhookId }: DeliverWebhookPayload): Promise<void> {
    const webhook = await readLaneWebhook(this.#options.db.sql, webhookId);
    // The webhook is held: its start adds another job.
    if (webhook?.active === false) return;
    if (webhook !== undefined) {
      await this.#options.accountLimits.get(webhook.accountId);
      // As above, of all its webhooks.
      if (this.#options.accountLimits.isSuspended(webhook.accountId)) return;
    }
    await this.#laneTurns.run(webhook?.accountId ?? webhookId, webhookId, () => this.#claim(webhook, webhookId));
  }

  async runAccountLane({ accountId }: DeliverAccountPayload): Promise<void> {
    await this.#options.accountLimits.get(accountId);
    if (this.#options.accountLimits.isSuspended(accountId)) return;
    await this.#laneTurns.run(accountId, accountId, () => this.#claimOfAccount(accountId));
  }

  stats(): DelivererStats {
    return { held: this.#sender.waiting(), inFlight: this.#sender.inFlight(), ...this.#recorder.stats() };
  }

  async attemptOnce(delivery: DueDelivery): Promise<DeliveryEnd> {
    if (this.#stopping !== undefined) return { kind: 'cut-off' };
    return startAttempt(this.#options, this.#transport, delivery).done;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#drain();
    return this.#stopping;
  }

  /** Answers how many characters their events have. */
  async #claim(webhook: LaneWebhook | undefined, webhookId: string): Promise<number> {
    const { db, nodeId } = this.#options;
    const accountId = webhook?.accountId;
    // Of a webhook that is gone: what is left is claimed too, and cancelled by that.
    if (accountId !== undefined && this.#options.accountLimits.isSuspended(accountId)) return 0;
    const room = accountId === undefined ? this.capacity() : this.capacity({ accountId, webhookId });
    const limit = Math.min(LIMITS.deliveryLaneBatch, room);
    if (limit > 0) {
      const claim = webhook?.isGoverned === true ? claimGoverned : claimDeliveries;
      return this.#take(limit, () => claim(db.sql, nodeId(), webhookId, limit));
    }
    // No lane of an account comes upon a webhook that is gone.
    if (accountId !== undefined) await this.#accountLanes.postpone(accountId);
    else await addJobs(db.sql, [deliverLane(webhookId, Date.now() + LIMITS.deliveryLaneRetryMs)]);
    return 0;
  }

  async #claimOfAccount(accountId: string): Promise<number> {
    const room = Math.min(LIMITS.accountLaneBatch, this.capacity({ accountId }));
    if (room > 0) return this.#take(room, () => this.#accountLanes.claim(accountId, room));
    await this.#accountLanes.postpone(accountId);
    return 0;
  }

  async #take(limit: number, claim: () => Promise<DueDelivery[]>): Promise<number> {
    this.#claiming += limit;
    try {
      const readAt = this.heard();
      const claimed = await claim();
      this.take(claimed, readAt);
      return claimed.reduce((chars, { data }) => chars + data.length, 0);
    } finally {
      this.#claiming -= limit;
    }
  }

  async #drain(): Promise<void> {
    const { db, nodeId } = this.#options;
    const waiting = await this.#laneTurns.stop();
    await this.#sender.stop(this.#limits.drainMs);
    await this.#recorder.stop();
    await this.#connections.stop();
    await addJobs(
      db.sql,
      waiting.map((id) => (isAccount(id) ? accountLane(id) : deliverLane(id))),
    );
    await releaseDeliveries(db.sql, nodeId());
  }

  async #settle(delivery: DueDelivery, end: DeliveryEnd): Promise<void> {
    if (end.kind === 'made') {
      const { status, attempt } = end.result;
      this.#options.onAttempt?.(status === 'pending' ? 'retried' : status, attempt.duration_ms);
      await this.#recorder.record(end.result);
      this.#options.history?.add(delivery.accountId, deliveryAttemptBytes(attempt));
      if (this.#options.stats !== undefined) countAttempt(this.#options.stats, delivery, status);
    }
    this.#held.remove(delivery);
  }

  /** What is not to begin here goes back; its lane comes round at `runAtMs`, by default at once. */
  async #release(deliveries: readonly DueDelivery[], runAtMs?: number): Promise<void> {
    if (deliveries.length === 0) return;
    const { db, nodeId, log } = this.#options;
    for (const delivery of deliveries) this.#held.remove(delivery);
    try {
      await releaseUnbegun(db.sql, nodeId(), deliveries, runAtMs);
    } catch (error) {
      // The rows stay leased by this node. Those that are pending it finds as leases that nothing
      // holds; the rest it loses when it ends.
      log.error({ count: deliveries.length, err: error }, 'deliveries could not be released');
    }
  }
}

const isAccount = (laneId: string) => laneId.startsWith(ID_PREFIXES.account);

function countAttempt(
  stats: StatCount,
  { accountId, emitterId, webhookId }: DueDelivery,
  status: AttemptResult['status'],
): void {
  if (status === 'dropped') return;
  const subjects = [emitterId, webhookId];
  stats.add(accountId, subjects, status === 'delivered' ? 'delivered' : 'failedAttempts', 1);
  if (status === 'failed') stats.add(accountId, subjects, 'exhausted', 1);
}

function withoutTexts<T>(result: AttemptResult<T>): AttemptResult<T> {
  const { at, duration_ms, status_code } = result.attempt;
  return { ...result, attempt: { at, duration_ms, ...(status_code === undefined ? {} : { status_code }) } };
}
