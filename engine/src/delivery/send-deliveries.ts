import { attemptDelivery, type Attempt, type AttemptContext, type AttemptEnd } from './attempt-delivery.ts';
import type { DueDelivery } from './due-delivery.ts';
import { createWebhookLanes, type LaneLimits } from './webhook-lanes.ts';

export interface SenderOptions {
  context: AttemptContext;
  limits: LaneLimits & { maxInFlight: number };
  /** An attempt ended; its slot is free already. Must not throw. */
  onEnd: (delivery: DueDelivery, end: AttemptEnd) => void;
  /** Deliveries that left without an attempt: their webhook has no room for them now. Must not throw. */
  onShed: (deliveries: readonly DueDelivery[]) => void;
}

/** Attempts what it is given, as many at a time as the limits allow, fair between tenants and webhooks. Holds all in memory. */
export interface Sender {
  push(deliveries: readonly DueDelivery[]): void;
  /** How many more of this webhook would not be shed at once. */
  room(webhookId: string): number;
  waiting(): number;
  inFlight(): number;
  /**
   * Starts nothing new and forgets what waits: whoever stops it releases the leases. Resolves when nothing is in flight any
   * more; after `drainMs` what still is gets cut off.
   */
  stop(drainMs: number): Promise<void>;
}

export function createSender({ context, limits, onEnd, onShed }: SenderOptions): Sender {
  const lanes = createWebhookLanes(limits);
  const attempts = new Set<Attempt>();
  let isStopping = false;
  let idle: (() => void) | undefined;

  function startWhatMayStart(): void {
    while (!isStopping && attempts.size < limits.maxInFlight) {
      const delivery = lanes.next();
      if (delivery === undefined) return;
      void start(delivery);
    }
  }

  async function start(delivery: DueDelivery): Promise<void> {
    const attempt = attemptDelivery(context, delivery);
    attempts.add(attempt);
    const end = await attempt.done;
    attempts.delete(attempt);
    const shed = lanes.done(delivery, end.kind === 'made' && end.timedOut ? 'timeout' : 'answered');
    if (shed.length > 0) onShed(shed);
    startWhatMayStart();
    onEnd(delivery, end);
    if (attempts.size === 0) idle?.();
  }

  async function drain(drainMs: number): Promise<void> {
    if (attempts.size === 0) return;
    const cutOff = setTimeout(() => {
      for (const attempt of attempts) attempt.abort();
    }, drainMs);
    await new Promise<void>((resolve) => (idle = resolve));
    clearTimeout(cutOff);
  }

  return {
    push(deliveries) {
      const shed: DueDelivery[] = [];
      for (const delivery of deliveries) {
        if (!isStopping && lanes.room(delivery.webhookId) > 0) lanes.push(delivery);
        else shed.push(delivery);
      }
      if (shed.length > 0) onShed(shed);
      startWhatMayStart();
    },
    room: (webhookId) => lanes.room(webhookId),
    waiting: () => lanes.waiting(),
    inFlight: () => attempts.size,
    stop(drainMs) {
      isStopping = true;
      lanes.clear();
      return drain(drainMs);
    },
  };
}
