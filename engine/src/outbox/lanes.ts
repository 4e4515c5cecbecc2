import { afterFailure, FAILING, SURE, type Trust, TRUSTED, UNKNOWN } from './lane-trust.ts';
import { countDoubtful, hasLive, isBusy, kindOf, type Lane, newTenant, setTrust, type Tenant } from './tenant-lanes.ts';

export interface LaneLimits {
  /**
   * Attempts at the same time of one lane, and of one tenant, asked each time. 0: none until a
   * `newTurn` of its own.
   */
  maxPerLane: number;
  maxPerTenant: (tenantId: string) => number;
  /** Items of one lane that are held, waiting or in flight. */
  maxHeldPerLane: number;
  /**
   * Attempts of a tenant that begin before the next `newTurn`, asked each time. 0: none until one
   * of its own.
   */
  maxPerTurn: (tenantId: string) => number;
  /**
   * Whether another attempt of the tenant may fail, asked each time, with the number of its
   * attempts in flight of which nothing is known. `hasLive`: other lanes of the tenant answer.
   * `isUnknown`: of the next one nothing is known. False: no lane begins that is not trusted, until
   * a `newTurn` of the tenant's own. Default: it may.
   */
  mayFail?: (tenantId: string, unknownInFlight: number, hasLive: boolean, isUnknown: boolean) => boolean;
  /**
   * An attempt of the tenant has failed in a lane of which nothing was known, or begins in one that
   * fails. Once for each.
   */
  failed?: (tenantId: string, hasLive: boolean) => void;
  /**
   * Items of a tenant that wait in lanes that fail, and in all that are not trusted. Default: any
   * number.
   */
  maxDoubtful?: (tenantId: string, hasLive: boolean) => { failing: number; all: number };
}

/** News of its lane that an item brings. */
export type LaneNews = 'fails' | 'mended' | undefined;

/**
 * Deliveries wait in lanes, one for each receiver (a webhook, a host), and lanes belong to tenants.
 * `next` rotates between tenants that may send and between the lanes of a tenant. So neither a busy
 * tenant nor a busy receiver delays its neighbours. Order within a lane is kept.
 *
 * A receiver that lets every attempt time out would fill its tenant's share of the node. So each
 * timeout halves the lane's window, down to one attempt at a time. Each response, whatever its
 * status, widens it by one. Slow responses do not change the window. But lanes whose last attempt
 * was slow have at most half of their tenant's attempts together.
 *
 * Lanes whose attempts fail begin no more than `mayFail` allows (lane-trust.ts, starts.ts), those
 * of which nothing is known before those that fail. Lanes that are trusted go on meanwhile.
 */
export interface Lanes<T> {
  push(item: T): void;
  /** The next one that may start now; it is in flight until `done`. */
  next(): T | undefined;
  /** Whether a tenant has used up its turn. */
  isTurnOver(): boolean;
  /** For all tenants that have begun an item, or for this one. */
  newTurn(tenantId?: string): void;
  /**
   * Answers what the lane, its window smaller now, should not hold any longer; it has left the
   * lane. `isSuccess` undefined: the attempt says nothing of the receiver.
   */
  done(item: T, outcome: 'answered' | 'slow' | 'timeout', isSuccess?: boolean): T[];
  /** How many of this lane are held, waiting or in flight. */
  held(laneId: string): number;
  /** How many more of this lane of the tenant may be held. Never negative. */
  room(laneId: string, tenantId: string): number;
  /**
   * How many more may be held of this lane and of the tenant's other lanes that are not trusted,
   * together. Infinite if nothing holds it back: its own room counts alone. `fails`: it is known to
   * fail elsewhere.
   */
  sharedRoom(laneId: string, tenantId: string, fails?: boolean): number;
  /** How many more of the tenant may be held, of lanes that fail. */
  roomOfFailing(tenantId: string): number;
  isTrusted(laneId: string): boolean;
  /** Waiting items of all tenants, or of this one. */
  waiting(tenantId?: string): number;
  /** Takes out what waits, of all lanes or of this one, in its order. */
  clear(laneId?: string): T[];
}

/**
 * A narrowed lane holds a few rounds of its window; the rest waits in the database, where any node
 * can take it.
 */
const ROUNDS_HELD = 4;

/**
 * Idle lanes are kept only to remember a narrow window, or how their attempts ended. Beyond this
 * many, those that ended an attempt the longest ago are forgotten.
 */
const MAX_REMEMBERED = 10_000;

/**
 * `laneIdOf`: unique among all tenants. `began`: called for each item that `next` returns, before
 * the limits decide which may follow. `newsOf`: default none.
 */
export function createLanes<T extends { accountId: string }>(
  limits: LaneLimits,
  laneIdOf: (item: T) => string,
  began: (item: T) => void = () => undefined,
  newsOf: (item: T) => LaneNews = () => undefined,
): Lanes<T> {
  return new FairLanes(limits, laneIdOf, began, newsOf);
}

class FairLanes<T extends { accountId: string }> implements Lanes<T> {
  readonly #limits: LaneLimits;
  readonly #laneIdOf: (item: T) => string;
  readonly #began: (item: T) => void;
  readonly #newsOf: (item: T) => LaneNews;
  readonly #lanes = new Map<string, Lane<T>>();
  readonly #tenants = new Map<string, Tenant<T>>();
  // Sets keep insertion order: a served tenant is deleted and added again, which puts it at the
  // end.
  readonly #readyTenants = new Set<Tenant<T>>();
  readonly #startedTenants = new Set<Tenant<T>>();
  /** In flight: how their lanes were when they began, if they were not trusted. */
  readonly #doubted = new Map<T, Trust>();
  #isTurnOver = false;
  #waiting = 0;

  constructor(
    limits: LaneLimits,
    laneIdOf: (item: T) => string,
    began: (item: T) => void,
    newsOf: (item: T) => LaneNews,
  ) {
    this.#newsOf = newsOf;
    this.#limits = limits;
    this.#laneIdOf = laneIdOf;
    this.#began = began;
  }

  push(item: T): void {
    const lane = this.#laneOf(item);
    const news = this.#newsOf(item);
    if (news === 'fails' && lane.trust === UNKNOWN) setTrust(lane, FAILING);
    if (news === 'mended' && lane.trust === FAILING) setTrust(lane, UNKNOWN);
    lane.waiting.push(item);
    this.#waits(lane, 1);
    this.#settle(lane);
  }

  next(): T | undefined {
    const [tenant] = this.#readyTenants;
    if (tenant === undefined) return undefined;
    let lane = this.#pick(tenant);
    // Slow ones that were ready when there was room for them.
    while (lane?.isSlow === true && tenant.slowInFlight >= this.#maxSlow(tenant)) {
      this.#settle(lane);
      lane = this.#pick(tenant);
    }
    if (!this.#readyTenants.has(tenant)) return this.next();
    const item = lane?.waiting.shift();
    if (lane === undefined || item === undefined) {
      // Its lanes could begin when it was found ready, and may not fail by now.
      this.#settleTenant(tenant);
      return this.#readyTenants.has(tenant) ? undefined : this.next();
    }
    tenant.wasTrusted = lane.trust >= SURE;
    this.#doubt(lane, item);
    this.#waits(lane, -1);
    lane.inFlight++;
    lane.tenant.inFlight++;
    if (lane.isSlow) lane.tenant.slowInFlight++;
    lane.tenant.started++;
    this.#startedTenants.add(lane.tenant);
    this.#began(item);
    this.#settle(lane);
    return item;
  }

  isTurnOver(): boolean {
    return this.#isTurnOver;
  }

  newTurn(tenantId?: string): void {
    if (tenantId !== undefined) {
      const tenant = this.#tenants.get(tenantId);
      if (tenant !== undefined) this.#settleTenant(tenant);
      return;
    }
    this.#isTurnOver = false;
    for (const tenant of this.#startedTenants) {
      tenant.started = 0;
      this.#settleTenant(tenant);
    }
    this.#startedTenants.clear();
  }

  done(item: T, outcome: 'answered' | 'slow' | 'timeout', isSuccess?: boolean): T[] {
    const lane = this.#laneOf(item);
    const { maxPerLane } = this.#limits;
    const begunAs = this.#doubted.get(item);
    this.#doubted.delete(item);
    if (begunAs === UNKNOWN) lane.tenant.unknownInFlight--;
    if (begunAs === UNKNOWN && isSuccess === false) this.#limits.failed?.(lane.tenant.id, hasLive(lane.tenant));
    if (lane.isSlow) lane.tenant.slowInFlight -= lane.inFlight;
    lane.inFlight--;
    lane.tenant.inFlight--;
    lane.isSlow = outcome !== 'answered';
    if (lane.isSlow) lane.tenant.slowInFlight += lane.inFlight;
    lane.window = outcome === 'timeout' ? Math.max(1, lane.window >> 1) : Math.min(maxPerLane, lane.window + 1);
    if (isSuccess !== undefined) setTrust(lane, isSuccess ? TRUSTED : afterFailure(lane.trust));
    if (isSuccess === true) lane.tenant.answered = { lane, atMs: performance.now() };
    const shed = lane.waiting.splice(Math.max(lane.window, this.#maxHeld(lane) - lane.inFlight));
    this.#waits(lane, -shed.length);
    this.#settle(lane);
    this.#fillSlowPlace(lane.tenant);
    this.#forget(this.#laneIdOf(item), lane);
    return shed;
  }

  room(laneId: string, tenantId: string): number {
    const lane = this.#lanes.get(laneId);
    const own =
      lane === undefined
        ? this.#limits.maxHeldPerLane
        : Math.max(0, this.#maxHeld(lane) - lane.waiting.length - lane.inFlight);
    return Math.min(own, this.sharedRoom(laneId, tenantId));
  }

  sharedRoom(laneId: string, tenantId: string, fails = false): number {
    const trust = this.#lanes.get(laneId)?.trust ?? UNKNOWN;
    if (trust >= SURE) return Number.POSITIVE_INFINITY;
    return fails || trust === FAILING ? this.roomOfFailing(tenantId) : this.#roomOfDoubtful(tenantId);
  }

  isTrusted(laneId: string): boolean {
    return (this.#lanes.get(laneId)?.trust ?? UNKNOWN) >= SURE;
  }

  roomOfFailing(tenantId: string): number {
    const tenant = this.#tenants.get(tenantId);
    const most = this.#limits.maxDoubtful?.(tenantId, hasLive(tenant)).failing ?? Number.POSITIVE_INFINITY;
    const own = Math.max(0, most - (tenant?.ofFailing ?? 0));
    return Math.min(own, this.#roomOfDoubtful(tenantId));
  }

  #roomOfDoubtful(tenantId: string): number {
    const tenant = this.#tenants.get(tenantId);
    const most = this.#limits.maxDoubtful?.(tenantId, hasLive(tenant)).all ?? Number.POSITIVE_INFINITY;
    return Math.max(0, most - (tenant?.doubtful ?? 0));
  }

  held(laneId: string): number {
    const lane = this.#lanes.get(laneId);
    return lane === undefined ? 0 : lane.waiting.length + lane.inFlight;
  }

  waiting(tenantId?: string): number {
    return tenantId === undefined ? this.#waiting : (this.#tenants.get(tenantId)?.waiting ?? 0);
  }

  clear(laneId?: string): T[] {
    if (laneId === undefined) return [...this.#lanes.keys()].flatMap((id) => this.#empty(id));
    const lane = this.#lanes.get(laneId);
    // Its receiver may be another by now, or back.
    if (lane?.trust === FAILING) setTrust(lane, UNKNOWN);
    return this.#empty(laneId);
  }

  #empty(laneId: string): T[] {
    const lane = this.#lanes.get(laneId);
    if (lane === undefined) return [];
    const waiting = lane.waiting.splice(0);
    this.#waits(lane, -waiting.length);
    this.#settle(lane);
    this.#forget(laneId, lane);
    return waiting;
  }

  #waits(lane: Lane<T>, more: number): void {
    lane.tenant.waiting += more;
    this.#waiting += more;
    countDoubtful(lane, more);
  }

  #laneOf(item: T): Lane<T> {
    const laneId = this.#laneIdOf(item);
    const known = this.#lanes.get(laneId);
    if (known !== undefined) return known;
    const id = item.accountId;
    const tenant: Tenant<T> = this.#tenants.get(id) ?? newTenant(id);
    this.#tenants.set(id, tenant);
    tenant.lanes++;
    const lane: Lane<T> = {
      tenant,
      waiting: [],
      inFlight: 0,
      window: this.#limits.maxPerLane,
      isSlow: false,
      trust: UNKNOWN,
    };
    this.#lanes.set(laneId, lane);
    return lane;
  }

  /** After a change, moves the lane and its tenant to the end of the rotation, or out of it. */
  #settle(lane: Lane<T>): void {
    const { tenant } = lane;
    for (const lanes of [tenant.ready, tenant.unknown, tenant.failing, tenant.behindSlow]) lanes.delete(lane);
    if (lane.waiting.length > 0 && lane.inFlight < lane.window) {
      const isBehind = lane.isSlow && tenant.slowInFlight >= this.#maxSlow(tenant);
      (isBehind ? tenant.behindSlow : kindOf(lane)).add(lane);
    }
    this.#settleTenant(tenant);
  }

  /**
   * A lane that may have to wait for the pace of failures does not keep the place from those that
   * are trusted.
   */
  #fillSlowPlace(tenant: Tenant<T>): void {
    for (const lane of tenant.behindSlow) {
      if (tenant.slowInFlight >= this.#maxSlow(tenant)) return;
      this.#settle(lane);
      if (tenant.ready.has(lane)) return;
    }
  }

  #settleTenant(tenant: Tenant<T>): void {
    this.#readyTenants.delete(tenant);
    if (tenant.inFlight >= this.#limits.maxPerTenant(tenant.id)) return;
    if (tenant.ready.size === 0 && !this.#mayDoubtfulBegin(tenant)) return;
    const maxPerTurn = this.#limits.maxPerTurn(tenant.id);
    if (tenant.started < maxPerTurn) this.#readyTenants.add(tenant);
    else if (maxPerTurn > 0) this.#isTurnOver = true;
  }

  /** The next lane of the tenant. Those that are trusted take turns with those that may fail. */
  #pick(tenant: Tenant<T>): Lane<T> | undefined {
    const [trusted] = tenant.ready;
    if (trusted !== undefined && !tenant.wasTrusted) return trusted;
    if (!this.#mayDoubtfulBegin(tenant)) return trusted;
    const [doubtful] = tenant.unknown.size > 0 ? tenant.unknown : tenant.failing;
    return doubtful;
  }

  #mayDoubtfulBegin(tenant: Tenant<T>): boolean {
    if (tenant.unknown.size + tenant.failing.size === 0) return false;
    const isUnknown = tenant.unknown.size > 0;
    return this.#limits.mayFail?.(tenant.id, tenant.unknownInFlight, hasLive(tenant), isUnknown) ?? true;
  }

  /** An attempt in a lane that fails is counted as failed at once. */
  #doubt({ tenant, trust }: Lane<T>, item: T): void {
    if (trust >= SURE) return;
    this.#doubted.set(item, trust);
    if (trust === UNKNOWN) tenant.unknownInFlight++;
    else this.#limits.failed?.(tenant.id, hasLive(tenant));
  }

  #maxSlow({ id }: Tenant<T>): number {
    return Math.max(1, Math.floor(this.#limits.maxPerTenant(id) / 2));
  }

  #maxHeld(lane: Lane<T>): number {
    const { maxPerLane, maxHeldPerLane } = this.#limits;
    return lane.window === maxPerLane ? maxHeldPerLane : lane.window * ROUNDS_HELD;
  }

  #forget(laneId: string, lane: Lane<T>): void {
    if (isBusy(lane)) return;
    if (lane.window === this.#limits.maxPerLane && lane.trust === UNKNOWN) {
      this.#drop(laneId, lane);
      return;
    }
    // At the end: the first ones are forgotten first.
    this.#lanes.delete(laneId);
    this.#lanes.set(laneId, lane);
    if (this.#lanes.size > MAX_REMEMBERED) this.#dropOldestIdle();
  }

  #dropOldestIdle(): void {
    for (const [laneId, lane] of this.#lanes) {
      if (isBusy(lane)) continue;
      this.#drop(laneId, lane);
      return;
    }
  }

  #drop(laneId: string, lane: Lane<T>): void {
    this.#lanes.delete(laneId);
    lane.tenant.lanes--;
    if (lane.tenant.lanes > 0) return;
    this.#tenants.delete(lane.tenant.id);
    this.#startedTenants.delete(lane.tenant);
  }
}
