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
import type { AttemptEnd } from './attempt-delivery.ts';
import { completeLimits, type DelivererLimits } from './deliverer-limits.ts';
import type { DueDelivery } from './due-delivery.ts';
import { createOutcomeRecorder } from './record-outcomes.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { createSecretKeys } from './secret-keys.ts';
import { createSender } from './send-deliveries.ts';

export interface DelivererOptions {
  db: Database;
  /** Whose leases these are, asked whenever one is taken, recorded or given up: it changes when a node was declared dead. */
  nodeId: () => string;
  sealer: Sealer;
  egress: Egress;
  retryPolicy: RetryPolicy;
  log: Log;
  /** Called once for every attempt that was made. `durationMs`: from signing to the last byte that was read. */
  onAttempt?: (outcome: 'delivered' | 'retried' | 'failed', durationMs: number) => void;
  limits?: Partial<DelivererLimits>;
}

export interface DelivererStats {
  /** In memory and not started. */
  held: number;
  inFlight: number;
  /** Attempted, and not recorded yet. */
  recording: number;
  /** Since the start, by what was recorded of each attempt. */
  delivered: number;
  retried: number;
  failed: number;
  /** Attempts whose lease was lost before they could be recorded: another node makes them again. */
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
  /** Takes on deliveries that this node has leased already. Never refuses; what is too much is released again. */
  take(deliveries: readonly DueDelivery[]): void;
  /** One turn of a webhook's lane: leases a bounded batch of what is due. Rejects when the database does not answer. */
  runLane(payload: DeliverWebhookPayload): Promise<void>;
  stats(): DelivererStats;
  /**
   * Starts nothing new, lets attempts in flight finish for drainMs, cuts off the rest, and releases every lease of this node.
   * Whatever commits deliveries must have stopped before. Idempotent.
   */
  stop(): Promise<void>;
}

export function createDeliverer(options: DelivererOptions): Deliverer {
  const { db, nodeId, log } = options;
  const limits = completeLimits(options.limits);
  const agent = options.egress.createAgent({ connections: limits.maxInFlight });
  const recorder = createOutcomeRecorder({ sql: db.sql, nodeId, log });
  const secretKeys = createSecretKeys(options.sealer);
  const { egress, retryPolicy } = options;
  const sender = createSender({
    context: { agent, egress, secretKeys, retryPolicy, log, timeoutMs: limits.timeoutMs },
    limits,
    onEnd: (delivery, end) => void settle(delivery, end),
    onShed: (deliveries) => void giveBack(deliveries),
  });
  let claiming = 0;
  let heldBytes = 0;
  let stopping: Promise<void> | undefined;

  async function settle(delivery: DueDelivery, end: AttemptEnd): Promise<void> {
    if (end.kind === 'made') {
      const { status, attempt } = end.result;
      options.onAttempt?.(status === 'pending' ? 'retried' : status, attempt.duration_ms);
      await recorder.record(end.result);
    }
    heldBytes -= delivery.data.length;
  }

  /** Leases that are not worth holding here go back; their lane comes round later. */
  async function giveBack(deliveries: readonly DueDelivery[]): Promise<void> {
    for (const delivery of deliveries) heldBytes -= delivery.data.length;
    const ids = deliveries.map((delivery) => delivery.id);
    try {
      await releaseDeliveries(db.sql, nodeId(), { ids, runAtMs: Date.now() + LIMITS.deliveryLaneRetryMs });
    } catch (error) {
      // The rows stay leased by this node; they are released when it ends or is found dead.
      log.error({ count: ids.length, err: error }, 'deliveries could not be released');
    }
  }

  function capacity(webhookId?: string): number {
    if (stopping !== undefined || heldBytes >= limits.maxHeldBytes) return 0;
    const held = sender.waiting() + sender.inFlight() + recorder.size() + claiming;
    const free = Math.max(0, limits.maxHeld - held);
    return webhookId === undefined ? free : Math.min(free, sender.room(webhookId));
  }

  function take(deliveries: readonly DueDelivery[]): void {
    for (const delivery of deliveries) heldBytes += delivery.data.length;
    sender.push(deliveries);
  }

  async function runLane({ webhookId }: DeliverWebhookPayload): Promise<void> {
    const limit = Math.min(LIMITS.deliveryLaneBatch, capacity(webhookId));
    if (limit <= 0) {
      await addJobs(db.sql, [deliverLane(webhookId, Date.now() + LIMITS.deliveryLaneRetryMs)]);
      return;
    }
    claiming += limit;
    try {
      take(await claimDeliveries(db.sql, nodeId(), webhookId, limit));
    } finally {
      claiming -= limit;
    }
  }

  async function drain(): Promise<void> {
    const { drained } = sender.stop(limits.drainMs);
    await drained;
    await recorder.stop();
    await agent.destroy();
    await releaseDeliveries(db.sql, nodeId());
  }

  return {
    capacity,
    take,
    runLane,
    stats: () => ({ held: sender.waiting(), inFlight: sender.inFlight(), ...recorder.stats() }),
    stop() {
      stopping ??= drain();
      return stopping;
    },
  };
}
