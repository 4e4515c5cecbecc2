import { LIMITS } from '@headwater/shared';
import { Cron } from 'croner';

/** A timer as configured: an interval, or a cron expression with a time zone (default UTC). */
export interface TimerSchedule {
  intervalSeconds?: number;
  cron?: string;
  timezone?: string;
}

/**
 * When a timer fires next after `afterMs`. Interval ticks are `anchorMs + n × interval`, so lateness never adds up, and
 * ticks missed while nothing ran are passed over. Undefined where a cron expression has no further match.
 */
export function nextTickMs(schedule: TimerSchedule, anchorMs: number, afterMs: number): number | undefined {
  if (schedule.cron !== undefined) return nextCronMs(schedule.cron, schedule.timezone, afterMs);
  if (schedule.intervalSeconds === undefined) return undefined;
  const intervalMs = schedule.intervalSeconds * 1000;
  const passed = Math.max(0, Math.floor((afterMs - anchorMs) / intervalMs));
  return anchorMs + (passed + 1) * intervalMs;
}

function nextCronMs(expression: string, timezone: string | undefined, afterMs: number): number | undefined {
  const cron = new Cron(expression, { timezone: timezone ?? 'UTC' });
  return cron.nextRun(new Date(afterMs))?.getTime();
}

/** What is wrong with a timer's configured value, or undefined. */
export function checkTimer(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'Expected { intervalSeconds } or { cron, timezone? }';
  const { intervalSeconds, cron, timezone } = value as Record<string, unknown>;
  if (cron !== undefined && cron !== null) return checkCron(cron, timezone);
  if (!Number.isInteger(intervalSeconds)) return 'Expected { intervalSeconds: <integer> } or { cron: <expression> }';
  const seconds = intervalSeconds as number;
  if (seconds < LIMITS.minTimerIntervalSeconds)
    return `intervalSeconds must be at least ${LIMITS.minTimerIntervalSeconds}`;
  if (seconds > LIMITS.maxTimerIntervalSeconds)
    return `intervalSeconds must be at most ${LIMITS.maxTimerIntervalSeconds}`;
  return undefined;
}

function checkCron(cron: unknown, timezone: unknown): string | undefined {
  if (typeof cron !== 'string') return 'cron must be a string';
  if (timezone !== undefined && timezone !== null && typeof timezone !== 'string') return 'timezone must be a string';
  try {
    const next = nextCronMs(cron, timezone ?? undefined, Date.now());
    return next === undefined ? `The cron expression "${cron}" never matches` : undefined;
  } catch (error) {
    return `The cron expression or time zone is not valid: ${error instanceof Error ? error.message : String(error)}`;
  }
}
