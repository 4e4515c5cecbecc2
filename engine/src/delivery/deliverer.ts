import { LIMITS } from '@headwater/shared';
import type { Egress } from '../egress/egress.ts';
import type { DeliverWebhookPayload } from '../jobs/tasks.ts';
import type { Log } from '../log.ts';
import type { Sealer } from '../secrets/seal.ts';
import { addJobs } from '../store/add-jobs.ts';
import { claimDeliveries } from '../store/claim-deliveries.ts';
import type { Database } from '../store/database.ts';
import { deliverLane } from '../store/deliver-lane.ts';
import { releaseDeliveries } from '../store/release-deliveries.ts';
import { attemptDelivery, type Attempt, type AttemptContext, type AttemptEnd } from './attempt-delivery.ts';
import type { DueDelivery } from './due-delivery.ts';
import { createOutcomeRecorder } from './record-outcomes.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { createSecretKeys } from './secret-keys.ts';
import { createWebhookLanes } from './webhook-lanes.ts';

export interface DelivererLimits {
  /** One attempt, connecting included. Default LIMITS.deliveryTimeoutMs. */
  timeoutMs: number;
  /** Defaults: LIMITS.maxDeliveriesPerWebhook, maxDeliveriesPerTenant, maxDeliveriesInFlight. */
  maxPerWebhook: number;
  maxPerTenant: number;
  maxInFlight: number;
  /** Defaults: LIMITS.maxHeldDeliveries, maxHeldDeliveriesPerWebhook, maxHeldDeliveryBytes. */
  maxHeld: number;
  maxHeldPerWebhook: number;
  maxHeldBytes: number;
  /** Default LIMITS.deliveryDrainMs. */
  drainMs: number;
}

export interface DelivererOptions {
  db: Database;
  /** Leases are held in this name; no other running deliverer has it. */
  nodeId: string;
  sealer: Sealer;
  egress: Egress;
  retryPolicy: RetryPolicy;
  log: Log;
  /** Called once for every attempt that was made. `durationMs` from signing to the last byte that was read. */
  onAttempt?: (outcome: 'delivered' | 'retried' | 'failed', durationMs: number) => void;
  limits?: Partial<DelivererLimits>;
}

export interface DelivererStats {
  waiting: number;
  inFlight: number;
  recording: number;
  delivered: number;
  retried: number;
  failed: number;
  /** Attempts whose lease was lost before they were recorded: another node makes them again. */
  lost: number;
}

/**
 * Sends the deliveries that this node has leased. Durable before and after: rows are leased in the database first, and each
 * attempt's outcome, the end of its lease and the job for its retry are committed together. A node that dies in between
 * leaves the row leased; whoever finds it dead releases it, and the receiver may get that event again (at least once).
 */
export interface Deliverer {
  /** How many more deliveries this node should lease: of any webhook, or of this one. 0 while stopping. */
  capacity(webhookId?: string): number;
  /** Takes on deliveries that are leased by this node already. Never refuses; what is too much is released again. */
  take(deliveries: readonly DueDelivery[]): void;
  /** One turn of a webhook's lane: leases a bounded batch of what is due. Rejects when the database does not answer. */
  runLane(payload: DeliverWebhookPayload): Promise<void>;
  stats(): DelivererStats;
  /**
   * Starts nothing new, lets attempts in flight finish for drainMs, cuts off the rest, and releases every lease of this node.
   * Runs must have stopped committing before. Idempotent.
   */
  stop(): Promise<void>;
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { db, nodeId, log } = options;
  const limits = completeLimits(options.limits);
  const giveUp = new AbortController();
  const agent = options.egress.createAgent({ connections: limits.maxInFlight });
  const context: AttemptContext = {
    agent,
    egress: options.egress,
    secretKeys: createSecretKeys(options.sealer),
    retryPolicy: options.retryPolicy,
    log,
    timeoutMs: limits.timeoutMs,
  };
  const lanes = createWebhookLanes(limits);
  const recorder = createOutcomeRecorder({ sql: db.sql, nodeId, log, giveUp: giveUp.signal });
  const inFlight = new Set<Attempt>();
  const counts = { delivered: 0, retried: 0, failed: 0, lost: 0 };
  let recording = 0;
  let claiming = 0;
  let heldBytes = 0;
  let stopping: Promise<void> | undefined;
  let idle: (() => void)[] = [];

  function startWhatMayStart(): void {
    while (stopping === undefined && inFlight.size < limits.maxInFlight) {
      const delivery = lanes.next();
      if (delivery === undefined) return;
      void start(delivery);
    }
  }

  async function start(delivery: DueDelivery): Promise<void> {
    const attempt = attemptDelivery(context, delivery);
    inFlight.add(attempt);
    const end = await attempt.done;
    inFlight.delete(attempt);
    const shed = lanes.done(delivery, end.kind === 'made' && end.timedOut ? 'timeout' : 'answered');
    if (shed.length > 0) void giveBack(shed);
    startWhatMayStart();
    if (inFlight.size === 0) wakeIdle();
    await record(end);
    heldBytes -= delivery.data.length;
  }

  async function record(end: AttemptEnd): Promise<void> {
    if (end.kind === 'cut-off') return;
    const { result } = end;
    const outcome = result.status === 'pending' ? 'retried' : result.status;
    options.onAttempt?.(outcome, result.attempt.duration_ms);
    recording++;
    try {
      if (await recorder.add(result)) counts[outcome]++;
      else counts.lost++;
    } catch (error) {
      // Only while stopping. The row keeps its lease or is released below: either way it is attempted again.
      log.error('A delivery attempt could not be recorded', { delivery: result.deliveryId, error });
    }
    recording--;
  }

  /** Leases that are not worth holding here go back; their lane comes round later. */
  async function giveBack(deliveries: readonly DueDelivery[]): Promise<void> {
    for (const delivery of deliveries) heldBytes -= delivery.data.length;
    try {
      const ids = deliveries.map((delivery) => delivery.id);
      await releaseDeliveries(db.sql, nodeId, { ids, runAtMs: Date.now() + LIMITS.deliveryLaneRetryMs });
    } catch (error) {
      // The rows stay leased by this node; they are released when it ends or is found dead.
      log.error('Deliveries could not be released', { count: deliveries.length, error });
    }
  }

  function wakeIdle(): void {
    for (const wake of idle) wake();
    idle = [];
  }

  async function drain(): Promise<void> {
    for (const delivery of lanes.clear()) heldBytes -= delivery.data.length;
    const cutOff = setTimeout(() => {
      for (const attempt of inFlight) attempt.abort();
      giveUp.abort();
    }, limits.drainMs);
    if (inFlight.size > 0) await new Promise<void>((resolve) => idle.push(resolve));
    await recorder.drain();
    clearTimeout(cutOff);
    giveUp.abort();
    await agent.destroy();
    await releaseDeliveries(db.sql, nodeId);
  }

  function capacity(webhookId?: string): number {
    if (stopping !== undefined || heldBytes >= limits.maxHeldBytes) return 0;
    const free = Math.max(0, limits.maxHeld - lanes.waiting() - inFlight.size - recording - claiming);
    return webhookId === undefined ? free : Math.min(free, lanes.room(webhookId));
  }

  function take(deliveries: readonly DueDelivery[]): void {
    for (const delivery of deliveries) heldBytes += delivery.data.length;
    if (stopping !== undefined) {
      void giveBack(deliveries);
      return;
    }
    const tooMuch: DueDelivery[] = [];
    for (const delivery of deliveries) {
      if (lanes.room(delivery.webhookId) > 0) lanes.push(delivery);
      else tooMuch.push(delivery);
    }
    if (tooMuch.length > 0) void giveBack(tooMuch);
    startWhatMayStart();
  }

  return {
    capacity,
    take,
    async runLane({ webhookId }) {
      const limit = Math.min(LIMITS.deliveryLaneBatch, capacity(webhookId));
      if (limit <= 0) {
        await addJobs(db.sql, [deliverLane(webhookId, Date.now() + LIMITS.deliveryLaneRetryMs)]);
        return;
      }
      claiming += limit;
      try {
        take(await claimDeliveries(db.sql, nodeId, webhookId, limit));
      } finally {
        claiming -= limit;
      }
    },
    stats: () => ({ waiting: lanes.waiting(), inFlight: inFlight.size, recording, ...counts }),
    stop() {
      stopping ??= drain();
      return stopping;
    },
  };
}

function completeLimits(given: Partial<DelivererLimits> = {}): DelivererLimits {
  return {
    timeoutMs: LIMITS.deliveryTimeoutMs,
    maxPerWebhook: LIMITS.maxDeliveriesPerWebhook,
    maxPerTenant: LIMITS.maxDeliveriesPerTenant,
    maxInFlight: LIMITS.maxDeliveriesInFlight,
    maxHeld: LIMITS.maxHeldDeliveries,
    maxHeldPerWebhook: LIMITS.maxHeldDeliveriesPerWebhook,
    maxHeldBytes: LIMITS.maxHeldDeliveryBytes,
    drainMs: LIMITS.deliveryDrainMs,
    ...given,
  };
}
