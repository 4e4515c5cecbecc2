import { didYouMean, type ExceededLimit, LIMITS } from '@headwater/shared';
import { nextCronMs } from './next-cron.ts';
import type { TimerSchedule } from './next-tick.ts';
import { zoneClock } from './zone-clock.ts';

/** Maximum characters of a value in an error message. */
const SHOWN_CHARS = 100;
const EXPECTED = 'Expected { intervalSeconds: <integer> } or { cron: <expression>, timezone? }';

const MEMBERS = ['intervalSeconds', 'cron', 'timezone'];
const SHOWN_MEMBERS = [...MEMBERS, 'interval_seconds'];

/** A timer's value as it was given: as components write it, or as the API shows it. */
type GivenTimer = Record<'intervalSeconds' | 'interval_seconds' | 'cron' | 'timezone', unknown>;

/** Problem of a timer, with the limit if one is exceeded. */
export type TimerProblem = string | { message: string; limit: ExceededLimit };

/**
 * checkTimer for the timers of one request, which all are checked in one turn of the thread. That
 * an expression never matches takes up to ten milliseconds to know: the request is refused for the
 * first one, and no other expression or time zone is looked at after it.
 */
export function timerCheck(): (value: unknown) => TimerProblem | undefined {
  const { maxTimerCrons: value } = LIMITS;
  let crons = 0;
  let isRefused = false;
  const search: CronSearch = (cron, zone) => {
    if (isRefused) return undefined;
    crons++;
    const problem =
      crons > value
        ? overLimit('maxTimerCrons', crons, `At most ${value} timers may have a cron expression`)
        : findCronProblem(cron, zone);
    isRefused = crons > value || problem === neverMatches(cron);
    return problem;
  };
  return (timer) => checkTimer(timer, search);
}

type CronSearch = (cron: string, zone: string) => TimerProblem | undefined;

/** The problem of a timer's configured value; undefined if there is none. */
export function checkTimer(value: unknown, search: CronSearch = findCronProblem): TimerProblem | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return EXPECTED;
  const { intervalSeconds, interval_seconds: shown, cron, timezone } = value as GivenTimer;
  const unknown = Object.entries(value).find(([name, given]) => isGiven(given) && !SHOWN_MEMBERS.includes(name))?.[0];
  if (unknown !== undefined)
    return `A timer has no ${unknown.slice(0, SHOWN_CHARS)}: ${didYouMean(unknown, MEMBERS)} ${EXPECTED}`;
  if (isGiven(cron)) return checkCron(cron, timezone, search);
  const seconds = isGiven(intervalSeconds) ? intervalSeconds : shown;
  if (!isGiven(seconds)) return EXPECTED;
  if (!Number.isInteger(seconds)) return 'intervalSeconds must be an integer';
  return checkInterval(seconds as number);
}

type TimerLimit = 'maxTimerCrons' | 'maxCronChars' | 'maxNearestWeekdays' | 'maxTimerIntervalSeconds';

function overLimit(name: TimerLimit, used: number, message: string): TimerProblem {
  return { message, limit: { name, value: LIMITS[name], used } };
}

/**
 * A timer's stored value, which checkTimer has accepted; a cron expression comes before an
 * interval.
 */
export function timerOf(value: unknown): TimerSchedule {
  const { intervalSeconds, interval_seconds: shown, cron, timezone } = (value ?? {}) as GivenTimer;
  if (typeof cron === 'string') return typeof timezone === 'string' ? { cron, timezone } : { cron };
  const seconds = isGiven(intervalSeconds) ? intervalSeconds : shown;
  return typeof seconds === 'number' ? { intervalSeconds: seconds } : {};
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

function checkInterval(seconds: number): TimerProblem | undefined {
  const { minTimerIntervalSeconds: min, maxTimerIntervalSeconds: max } = LIMITS;
  if (seconds < min) return `intervalSeconds must be at least ${min}`;
  if (seconds <= max) return undefined;
  return overLimit('maxTimerIntervalSeconds', seconds, `intervalSeconds must be at most ${max}`);
}

// Minute, hour, day, month, weekday, with seconds before them where there are six; or a nickname
// such as @daily. Croner alone would take a date as well, for a timer that fires once.
const CRON_SHAPE = /^\s*(?:@[a-z]+|\S+(?:\s+\S+){4,5})\s*$/i;

function checkCron(cron: unknown, timezone: unknown, search: CronSearch): TimerProblem | undefined {
  const { maxCronChars, maxNearestWeekdays } = LIMITS;
  if (typeof cron !== 'string') return 'cron must be a string';
  if (isGiven(timezone) && typeof timezone !== 'string') return 'timezone must be a string';
  if (cron.length > maxCronChars)
    return overLimit('maxCronChars', cron.length, `cron must have at most ${maxCronChars} characters`);
  if (!CRON_SHAPE.test(cron)) {
    return `The cron expression "${cron}" is not valid: it has five fields, or six with seconds first, or is a name such as @daily`;
  }
  const weekdays = cron.match(/\dW/gi)?.length ?? 0;
  if (weekdays > maxNearestWeekdays) {
    const message = `The cron expression "${cron}" names more than ${maxNearestWeekdays} nearest weekdays (W)`;
    return overLimit('maxNearestWeekdays', weekdays, message);
  }
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

/**
 * Names of the time zone database and `UTC`; no bare offsets, which have no summer time and depend
 * on the platform.
 */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    zoneClock(name);
    return true;
  } catch {
    return false; // RangeError: unknown
  }
}
