import type { Principal } from './base.ts';

/**
 * `received`: events that a source or workflow was given to run. `emitted`: events it has stored,
 * built-in channels left out.
 * `failedAttempts`: each attempt of a delivery that failed. `exhausted`: deliveries that failed
 * with no attempt left.
 */
export type StatCounter =
  | 'received'
  | 'emitted'
  | 'runsOk'
  | 'runsFailed'
  | 'delivered'
  | 'failedAttempts'
  | 'exhausted';

export type StatCounts = Record<StatCounter, number>;

export interface StatRange {
  /** Default: an hour before `untilMs`. */
  sinceMs?: number;
  /** Default: now. */
  untilMs?: number;
  /** Default: what shows the range in 60 to 300 buckets. */
  stepSeconds?: number;
}

/** The whole buckets that hold the range that was asked for. */
export interface StatSpan {
  sinceMs: number;
  /** The end of the last bucket. */
  untilMs: number;
  stepSeconds: number;
}

/** Every bucket of the range, also those in which nothing happened. */
export interface StatSeries extends StatSpan {
  totals: StatCounts;
  buckets: (StatCounts & { beganMs: number })[];
}

export interface SubjectStats {
  id: string;
  type: 'source' | 'workflow' | 'webhook';
  name: string;
  totals: StatCounts;
  /**
   * One value per bucket: events received, or deliveries of a webhook. `failures`: those that
   * failed.
   */
  activity: number[];
  failures: number[];
}

/** The counts of an account in a range, and its work that waits now for any node. */
export interface AccountStats {
  id: string;
  name: string;
  totals: StatCounts;
  waitingRuns: number;
  waitingDeliveries: number;
}

export interface NodeRecord {
  id: string;
  role: string;
  startedAtMs: number;
  /** Its last heartbeat. */
  seenAtMs: number;
}

/** For the operator alone: no tenant is asked for. */
export interface Operator {
  nodes(): Promise<NodeRecord[]>;
  /** The most active first. Throws INVALID_REQUEST. */
  accounts(range: StatRange, limit: number): Promise<StatSpan & { accounts: AccountStats[] }>;
}

/** The oldest waiting work and its emitter or webhook. */
export interface WaitingStats {
  run: { id: string; name: string; sinceMs: number } | undefined;
  /** Since it was due. */
  delivery: { id: string; name: string; sinceMs: number } | undefined;
}

export interface Stats {
  /** Work of active sources, workflows and webhooks that no node has begun. */
  waiting(who: Principal): Promise<WaitingStats>;
  /**
   * Counters of the account, or of one of its sources, workflows or webhooks. Throws
   * INVALID_REQUEST, NOT_FOUND.
   */
  series(who: Principal, range: StatRange, subject?: { kind: 'emitter' | 'webhook'; id: string }): Promise<StatSeries>;
  /** Those that did something in the range: the most failures first, then the most active. */
  subjects(
    who: Principal,
    range: StatRange,
    request: { kind: 'emitter' | 'webhook'; limit: number },
  ): Promise<StatSpan & { subjects: SubjectStats[] }>;
}
