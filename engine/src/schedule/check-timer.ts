import { LIMITS } from '@headwater/shared';
import { nextCronMs } from './next-cron.ts';
import type { TimerSchedule } from './next-tick.ts';
import { zoneClock } from './zone-clock.ts';

/** Of a value in an error message. */
const SHOWN_CHARS = 100;
const EXPECTED = 'Expected { intervalSeconds: <integer> } or { cron: <expression>, timezone? }';

/** A timer's value as it was given: as components write it, or as the API shows it. */
type GivenTimer = Record<'intervalSeconds' | 'interval_seconds' | 'cron' | 'timezone', unknown>;

/** Of a rare one, the next match is found in about half a millisecond. */
const MAX_CRONS = 50;
/** Each is looked for on its own, on every day. */
const MAX_NEAREST_WEEKDAYS = 5;

/**
 * checkTimer for the timers of one request, which all are checked in one turn of the thread. That an expression never matches takes up to
 * ten milliseconds to know: the request is refused for the first one, and no other expression or time zone is looked at after it.
 */
export function timerCheck(): (value: unknown) => string | undefined {
  let crons = 0;
  let isRefused = false;
  const search: CronSearch = (cron, zone) => {
    if (isRefused) return undefined;
    crons++;
    const problem =
      crons > MAX_CRONS ? `At most ${MAX_CRONS} timers may have a cron expression` : findCronProblem(cron, zone);
    isRefused = crons > MAX_CRONS || problem === neverMatches(cron);
    return problem;
  };
  return (value) => checkTimer(value, search);
}

type CronSearch = (cron: string, zone: string) => string | undefined;

/** What is wrong with a timer's configured value, or undefined. */
export function checkTimer(value: unknown, search: CronSearch = findCronProblem): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return EXPECTED;
  const { intervalSeconds, interval_seconds: shown, cron, timezone } = value as GivenTimer;
  if (isGiven(cron)) return checkCron(cron, timezone, search);
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

function checkCron(cron: unknown, timezone: unknown, search: CronSearch): string | undefined {
  if (typeof cron !== 'string') return 'cron must be a string';
  if (isGiven(timezone) && typeof timezone !== 'string') return 'timezone must be a string';
  if (cron.length > LIMITS.maxCronChars) return `cron must have at most ${LIMITS.maxCronChars} characters`;
  if (!CRON_SHAPE.test(cron)) {
    return `The cron expression "${cron}" is not valid: it has five fields, or six with seconds first, or is a name such as @daily`;
  }
  if ((cron.match(/\dW/gi)?.length ?? 0) > MAX_NEAREST_WEEKDAYS)
    return `The cron expression "${cron}" names more than ${MAX_NEAREST_WEEKDAYS} nearest weekdays (W)`;
  return search(cron, (timezone ?? 'UTC') as string);
}

function findCronProblem(cron: string, zone: string): string | undefined {
  if (!isTimeZone(zone))
    return `The time zone "${zone.slice(0, SHOWN_CHARS)}" is not valid; expected a name such as Europe/Paris`;
  try {
    return nextCronMs(cron, zone, Date.now()) === undefined ? neverMatches(cron) : undefined;
  } catch (error) {
    return `The cron expression "${cron}" is not valid: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const neverMatches = (cron: string): string => `The cron expression "${cron}" never matches`;

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
