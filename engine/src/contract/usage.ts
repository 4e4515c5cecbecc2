import type { Principal } from './base.ts';
import type { StatRange } from './stats.ts';

/** Counted for the account alone, in memory, and added to its day. */
export type CountedUse = 'requests' | 'runMs' | 'cpuMs' | 'attempts' | 'bytesIn' | 'bytesOut';

/**
 * Usage of an account.
 * - `requests`: those that were let in at its endpoints, and at the API with its keys.
 * - `runs`: runs and executions that ended. `events`: emitted and stored, without `$errors` and
 *   `$logs`. `deliveries`: accepted by a receiver. `attempts`: requests of deliveries and sends.
 * - `runMs`, `cpuMs`: of all that its code ran, hooks and repeated runs too.
 * - `bytesIn`, `bytesOut`: bodies of requests to it and of answers, of what its code fetched, and
 *   of deliveries and sends.
 */
export type UsageCounts = Record<CountedUse | 'runs' | 'events' | 'deliveries', number>;

export interface UsageDay extends UsageCounts {
  /** `2026-11-27`, in UTC. */
  day: string;
  /** The most that it had stored on that day, of the looks at it. */
  storageBytes: number;
}

export interface UsageRecord {
  accountId: string;
  sinceMs: number;
  /** The end of the last day. */
  untilMs: number;
  /** `storageBytes`: the most of any day. */
  totals: Omit<UsageDay, 'day'>;
  /** Every day of the range, also those on which nothing happened, the oldest first. */
  days: UsageDay[];
}

export interface Usage {
  /** Counts in memory; costs some ten nanoseconds. */
  count(accountId: string, counter: 'requests' | 'bytesIn' | 'bytesOut', by: number): void;
  /** Whole days that hold the range, by default the last 30. Throws INVALID_REQUEST. */
  days(who: Pick<Principal, 'accountId'>, range: Omit<StatRange, 'stepSeconds'>): Promise<UsageRecord>;
}
