import { nextCronMs } from './next-cron.ts';

/** A timer as configured: an interval, or a cron expression with a time zone (default UTC). */
export interface TimerSchedule {
  intervalSeconds?: number;
  cron?: string;
  timezone?: string;
}

/**
 * When a timer fires next after `afterMs`. Interval ticks are `anchorMs + n × interval`, so
 * lateness never adds up, and ticks missed while nothing ran are passed over. Undefined where a
 * cron expression has no further match.
 *
 * Cron follows the clock on the wall of its time zone. Where that jumps over times of day, one tick
 * comes at the end of the gap for those that were due in it. Where an hour comes twice, times of
 * day tick in the first one alone. Expressions with `*` or a step in seconds, minutes or hours have
 * no tick for a gap, and tick in both hours.
 */
export function nextTickMs(schedule: TimerSchedule, anchorMs: number, afterMs: number): number | undefined {
  if (schedule.cron !== undefined) return nextCronMs(schedule.cron, schedule.timezone, afterMs);
  if (schedule.intervalSeconds === undefined) return undefined;
  const intervalMs = schedule.intervalSeconds * 1000;
  const passed = Math.max(0, Math.floor((afterMs - anchorMs) / intervalMs));
  return anchorMs + (passed + 1) * intervalMs;
}

/**
 * A tick that is this late, or less, does not cost the ones after it: a busy node is no downtime.
 */
const LATE_MS = 2_000;

/**
 * After when the tick is looked for that follows one that was due at `dueMs` and fires at `nowMs`.
 * After a downtime the tick that waited is the only one of those that were missed.
 */
export function nextAfterMs(dueMs: number, nowMs: number): number {
  // Due times are rounded to milliseconds: the same one must not be found again.
  return nowMs - dueMs <= LATE_MS ? dueMs + 1 : Math.max(nowMs, dueMs + 1);
}
