import { FAILING, SURE, type Trust } from './lane-trust.ts';

/*
 * The state of lanes.ts: what it keeps of each lane and of the tenant that it belongs to.
 */

/** A lane that answered so recently may have the next item at any moment. */
const LIVE_MS = 60_000;

export interface Lane<T> {
  tenant: Tenant<T>;
  waiting: T[];
  inFlight: number;
  window: number;
  /** Its last attempt that has ended. */
  isSlow: boolean;
  trust: Trust;
}

export interface Tenant<T> {
  id: string;
  lanes: number;
  waiting: number;
  inFlight: number;
  /** Attempts of slow lanes. */
  slowInFlight: number;
  /** Slow lanes that have something to send, and wait for another slow one. */
  behindSlow: Set<Lane<T>>;
  /** In this turn. */
  started: number;
  /** Trusted lanes that have something to send and room in their window, in turn. */
  ready: Set<Lane<T>>;
  /** The others: nothing is known of them, or they fail. */
  unknown: Set<Lane<T>>;
  failing: Set<Lane<T>>;
  /** Whether the last one to begin was trusted: the two kinds take turns. */
  wasTrusted: boolean;
  /** Waiting in lanes that are not trusted, and in those that fail. */
  doubtful: number;
  ofFailing: number;
  /** Begun when nothing was known of their lanes. */
  unknownInFlight: number;
  /** The last success. */
  answered: { lane: Lane<T>; atMs: number } | undefined;
}

export const newTenant = (id: string) => ({
  id,
  lanes: 0,
  waiting: 0,
  inFlight: 0,
  slowInFlight: 0,
  started: 0,
  ready: new Set<never>(),
  unknown: new Set<never>(),
  failing: new Set<never>(),
  wasTrusted: false,
  doubtful: 0,
  ofFailing: 0,
  unknownInFlight: 0,
  behindSlow: new Set<never>(),
  answered: undefined,
});
export const isBusy = (lane: Lane<unknown>) => lane.waiting.length > 0 || lane.inFlight > 0;

/** The lanes among which it waits while it can begin. */
export function kindOf<T>({ trust, tenant }: Lane<T>): Set<Lane<T>> {
  if (trust >= SURE) return tenant.ready;
  return trust === FAILING ? tenant.failing : tenant.unknown;
}

/**
 * Whether a lane is trusted and has answered within a minute. One that has failed since is not: by
 * itself, a receiver that refuses much has no pace.
 */
export function hasLive(tenant: Tenant<unknown> | undefined): boolean {
  const answered = tenant?.answered;
  if (answered === undefined || answered.lane.trust < SURE) return false;
  return performance.now() - answered.atMs < LIVE_MS;
}

/** `more` items wait in the lane; a negative number: fewer. */
export function countDoubtful<T>({ tenant, trust }: Lane<T>, more: number): void {
  if (trust < SURE) tenant.doubtful += more;
  if (trust === FAILING) tenant.ofFailing += more;
}

export function setTrust<T>(lane: Lane<T>, trust: Trust): void {
  countDoubtful(lane, -lane.waiting.length);
  lane.trust = trust;
  countDoubtful(lane, lane.waiting.length);
}
