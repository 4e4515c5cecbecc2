import { LIMITS } from '@headwater/shared';
import { nextCronMs } from './next-cron.ts';
import type { TimerSchedule } from './next-tick.ts';
import { zoneClock } from './zone-clock.ts';

/** Of a value in an error message. */
const SHOWN_CHARS = 100;
const EXPECTED = 'Expected { intervalSeconds: <integer> } or { cron: <expression>, timezone? }';

/** A timer's value as it was given: as components write it, or as the API shows it. */
type GivenTimer = Record<'intervalSeconds' | 'interval_seconds' | 'cron' | 'timezone', unknown>;

/** What is wrong with a timer's configured value, or undefined. */
export function checkTimer(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return EXPECTED;
  const { intervalSeconds, interval_seconds: shown, cron, timezone } = value as GivenTimer;
  if (isGiven(cron)) return checkCron(cron, timezone);
  const seconds = isGiven(intervalSeconds) ? intervalSeconds : shown;
  if (!isGiven(seconds)) return EXPECTED;
  if (!Number.isInteger(seconds)) return 'intervalSeconds must be an integer';
  return checkInterval(seconds as number);
}

/** A timer's stored value, which checkTimer has accepted; a cron expression comes before an interval. */
export function timerOf(value: unknown): TimerSchedule {
  const { intervalSeconds, interval_seconds: shown, cron, timezone } = (value ?? {}) as GivenTimer;
  if (typeof cron === 'string') return typeof timezone === 'string' ? { cron, timezone } : { cron };
  const seconds = isGiven(intervalSeconds) ? intervalSeconds : shown;
  return typeof seconds === 'number' ? { intervalSeconds: seconds } : {};
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function checkInterval(seconds: number): string | undefined {
  const { minTimerIntervalSeconds: min, maxTimerIntervalSeconds: max } = LIMITS;
  if (seconds < min) return `intervalSeconds must be at least ${min}`;
  return seconds > max ? `intervalSeconds must be at most ${max}` : undefined;
}

// Minute, hour, day, month, weekday, with seconds before them where there are six; or a nickname such as @daily. Croner alone
// would take a date as well, for a timer that fires once.
const CRON_SHAPE = /^\s*(?:@[a-z]+|\S+(?:\s+\S+){4,5})\s*$/i;

function checkCron(cron: unknown, timezone: unknown): string | undefined {
  if (typeof cron !== 'string') return 'cron must be a string';
  if (isGiven(timezone) && typeof timezone !== 'string') return 'timezone must be a string';
  if (cron.length > LIMITS.maxCronChars) return `cron must have at most ${LIMITS.maxCronChars} characters`;
  if (!CRON_SHAPE.test(cron)) {
    return `The cron expression "${cron}" is not valid: it has five fields, or six with seconds first, or is a name such as @daily`;
  }
  const zone = (timezone ?? 'UTC') as string;
  if (!isTimeZone(zone))
    return `The time zone "${zone.slice(0, SHOWN_CHARS)}" is not valid; expected a name such as Europe/Paris`;
  try {
    const next = nextCronMs(cron, zone, Date.now());
    return next === undefined ? `The cron expression "${cron}" never matches` : undefined;
  } catch (error) {
    return `The cron expression "${cron}" is not valid: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Names of the time zone database and `UTC`; no bare offsets, which have no summer time and depend on the platform. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    zoneClock(name);
    return true;
  } catch {
    return false; // RangeError: unknown
  }
}
