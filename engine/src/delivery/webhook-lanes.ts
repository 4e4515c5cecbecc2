import type { DueDelivery } from './due-delivery.ts';

export interface LaneLimits {
  /** Attempts at the same time to one webhook, and of one tenant. */
  maxPerWebhook: number;
  maxPerTenant: number;
  /** Deliveries of one webhook that are held, waiting or in flight. */
  maxHeldPerWebhook: number;
}

/**
 * Deliveries wait in lanes, one a webhook, lanes belong to tenants. `next` goes round the tenants that may send and, within
 * one, round its lanes, so that neither a busy tenant nor a busy webhook holds up its neighbours. Order within a lane is kept.
 *
 * A receiver that takes every attempt to its timeout would fill its tenant's share of the node with waiting. So each timeout
 * halves the lane's window, down to one attempt at a time, and each answer, whatever its status, widens it by one.
 */
export interface WebhookLanes {
  push(delivery: DueDelivery): void;
  /** The next delivery that may start now; it is in flight until `done`. */
  next(): DueDelivery | undefined;
  /** Answers the deliveries that the lane, its window smaller now, should not hold any longer; they have left it. */
  done(delivery: DueDelivery, outcome: 'answered' | 'timeout'): DueDelivery[];
  /** How many more of this webhook may be held. Never negative. */
  room(webhookId: string): number;
  waiting(): number;
  /** Takes out everything that waits. */
  clear(): DueDelivery[];
}

interface Lane {
  tenant: Tenant;
  waiting: DueDelivery[];
  inFlight: number;
  window: number;
}

interface Tenant {
  id: string;
  lanes: number;
  inFlight: number;
  /** Lanes that have something to send and room in their window, in turn. */
  ready: Set<Lane>;
}

/** A narrowed lane holds a few rounds of its window; the rest waits in the database, where any node can take it. */
const ROUNDS_HELD = 4;

/** Idle lanes are kept only to remember a narrow window. Beyond this many the oldest are forgotten. */
const MAX_REMEMBERED = 10_000;

const isBusy = (lane: Lane) => lane.waiting.length > 0 || lane.inFlight > 0;

export function createWebhookLanes(limits: LaneLimits): WebhookLanes {
  return new Lanes(limits);
}

class Lanes implements WebhookLanes {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane>();
  readonly #tenants = new Map<string, Tenant>();
  // Sets keep insertion order: whoever was served is deleted and added again, which puts it at the end.
  readonly #readyTenants = new Set<Tenant>();
  #waiting = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  push(delivery: DueDelivery): void {
    const lane = this.#laneOf(delivery);
    lane.waiting.push(delivery);
    this.#waiting++;
    this.#settle(lane);
  }

  next(): DueDelivery | undefined {
    const [tenant] = this.#readyTenants;
    const [lane] = tenant?.ready ?? [];
    const delivery = lane?.waiting.shift();
    if (lane === undefined || delivery === undefined) return undefined;
    this.#waiting--;
    lane.inFlight++;
    lane.tenant.inFlight++;
    this.#settle(lane);
    return delivery;
  }

  done(delivery: DueDelivery, outcome: 'answered' | 'timeout'): DueDelivery[] {
    const lane = this.#laneOf(delivery);
    const { maxPerWebhook } = this.#limits;
    lane.inFlight--;
    lane.tenant.inFlight--;
    lane.window = outcome === 'timeout' ? Math.max(1, lane.window >> 1) : Math.min(maxPerWebhook, lane.window + 1);
    const shed = lane.waiting.splice(Math.max(lane.window, this.#maxHeld(lane) - lane.inFlight));
    this.#waiting -= shed.length;
    this.#settle(lane);
    this.#forget(delivery.webhookId, lane);
    return shed;
  }

  room(webhookId: string): number {
    const lane = this.#lanes.get(webhookId);
    if (lane === undefined) return this.#limits.maxHeldPerWebhook;
    return Math.max(0, this.#maxHeld(lane) - lane.waiting.length - lane.inFlight);
  }

  waiting(): number {
    return this.#waiting;
  }

  clear(): DueDelivery[] {
    const all: DueDelivery[] = [];
    for (const lane of this.#lanes.values()) {
      all.push(...lane.waiting.splice(0));
      this.#settle(lane);
    }
    this.#waiting = 0;
    return all;
  }

  #laneOf(delivery: DueDelivery): Lane {
    const known = this.#lanes.get(delivery.webhookId);
    if (known !== undefined) return known;
    const id = delivery.accountId;
    const tenant = this.#tenants.get(id) ?? { id, lanes: 0, inFlight: 0, ready: new Set() };
    this.#tenants.set(id, tenant);
    tenant.lanes++;
    const lane: Lane = { tenant, waiting: [], inFlight: 0, window: this.#limits.maxPerWebhook };
    this.#lanes.set(delivery.webhookId, lane);
    return lane;
  }

  /** Puts the lane and its tenant where they belong after a change: at the end of the turns, or out of them. */
  #settle(lane: Lane): void {
    const { tenant } = lane;
    tenant.ready.delete(lane);
    if (lane.waiting.length > 0 && lane.inFlight < lane.window) tenant.ready.add(lane);
    this.#readyTenants.delete(tenant);
    if (tenant.ready.size > 0 && tenant.inFlight < this.#limits.maxPerTenant) this.#readyTenants.add(tenant);
  }

  #maxHeld(lane: Lane): number {
    const { maxPerWebhook, maxHeldPerWebhook } = this.#limits;
    return lane.window === maxPerWebhook ? maxHeldPerWebhook : lane.window * ROUNDS_HELD;
  }

  #forget(webhookId: string, lane: Lane): void {
    if (isBusy(lane)) return;
    if (lane.window === this.#limits.maxPerWebhook) this.#drop(webhookId, lane);
    else if (this.#lanes.size > MAX_REMEMBERED) this.#dropOldestIdle();
  }

  #dropOldestIdle(): void {
    for (const [webhookId, lane] of this.#lanes) {
      if (isBusy(lane)) continue;
      this.#drop(webhookId, lane);
      return;
    }
  }

  #drop(webhookId: string, lane: Lane): void {
    this.#lanes.delete(webhookId);
    lane.tenant.lanes--;
    if (lane.tenant.lanes === 0) this.#tenants.delete(lane.tenant.id);
  }
}
