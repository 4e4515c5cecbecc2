import { Cron, CronPattern } from 'croner';
import { type ZoneClock, zoneClock } from './zone-clock.ts';

/**
 * Limit of the search for a match. February 29 on a given day of the week recurs after at most 40
 * years.
 */
const SEARCHED_YEARS = 50;
const SECOND_MS = 1000;

export const DEFAULT_TIME_ZONE = 'UTC';

/**
 * The next match of an expression after `afterMs`; undefined if none is within SEARCHED_YEARS.
 * Throws croner's error for an invalid expression, and a RangeError for an unknown time zone.
 *
 * Croner gets only wall clock times. With a time zone, it tries each second of the hours that a
 * change to summer time skips, in each year up to 3000. An expression that matches only those took
 * 40 seconds of the node's thread.
 */
export function nextCronMs(expression: string, timezone: string | undefined, afterMs: number): number | undefined {
  const clock = zoneClock(timezone ?? DEFAULT_TIME_ZONE);
  // Matches are at whole seconds.
  const wallAfterMs = clock.wallMs(Math.floor(afterMs / SECOND_MS) * SECOND_MS);
  const matches = readMatches(expression, wallAfterMs);
  const next = firstFrom(matches, clock, { wallAfterMs, afterMs });
  const [, later] = clock.instantsOf(wallAfterMs);
  if (matches.isFixedTime || later === undefined || afterMs >= later) return next;
  // The clock is about to be put back: times that have passed come once more.
  const backMs = clock.changeAt(wallAfterMs);
  const again = firstFrom(matches, clock, { wallAfterMs: clock.wallMs(backMs) - SECOND_MS, afterMs: backMs - 1 });
  return next === undefined || again === undefined ? (next ?? again) : Math.min(next, again);
}

interface Matches {
  /**
   * Times of day, one or a list: each ticks once a day also where the clock is changed. Only `*`
   * and steps go by the clock, as in the cron of Unix.
   */
  isFixedTime: boolean;
  nextWallMs(afterWallMs: number): number | undefined;
}

/**
 * Years of the same length that begin on the same day of the week have one calendar: an expression
 * matches in all of them alike, and is looked for in the first one alone. There are 14, and the
 * year that has begun already. To look at every day of SEARCHED_YEARS took 40 milliseconds of the
 * node's thread.
 */
function readMatches(expression: string, fromMs: number): Matches {
  const rule = { mode: '5-or-6-parts', fixedTimeRule: 'no-wildcard' } as const;
  const { pattern, isFixedTime } = new CronPattern(expression, undefined, rule);
  const fields = pattern.trim().split(/\s+/);
  const firstYear = new Date(fromMs).getUTCFullYear();
  const lastYear = firstYear + SEARCHED_YEARS;
  const keyOf = (year: number) => (year === firstYear ? 'begun' : calendarOf(year));
  const models = new Map<string, number>();
  for (let year = lastYear; year >= firstYear; year--) models.set(keyOf(year), year);
  const searched = [...models.values()];
  const bounded = [...(fields.length === 5 ? ['0'] : []), ...fields, searched.join(',')].join(' ');
  const cron = new Cron(bounded, { utcOffset: 0, mode: '7-part' });
  /** Models without a match. */
  const empty = new Set<number>();
  const firstIn = (year: number, afterMs: number): number | undefined => {
    const model = year < firstYear ? undefined : models.get(keyOf(year));
    if (model === undefined || empty.has(model)) return undefined;
    const startMs = Date.UTC(year, 0, 1);
    const shiftMs = startMs - Date.UTC(model, 0, 1);
    const fromStart = afterMs < startMs;
    const next = cron.nextRun(new Date((fromStart ? startMs - SECOND_MS : afterMs) - shiftMs));
    const foundYear = next?.getUTCFullYear() ?? Number.POSITIVE_INFINITY;
    if (next !== null && foundYear === model) return next.getTime() + shiftMs;
    for (const one of searched) if (one < foundYear && (one > model || (one === model && fromStart))) empty.add(one);
    return undefined;
  };
  const nextWallMs = (afterMs: number): number | undefined => {
    for (let year = new Date(afterMs).getUTCFullYear(); year <= lastYear; year++) {
      const atMs = firstIn(year, afterMs);
      if (atMs !== undefined) return atMs;
    }
    return undefined;
  };
  return { isFixedTime, nextWallMs };
}

function calendarOf(year: number): string {
  const startMs = Date.UTC(year, 0, 1);
  return `${new Date(startMs).getUTCDay()} ${Date.UTC(year + 1, 0, 1) - startMs}`;
}

function firstFrom(
  { isFixedTime, nextWallMs }: Matches,
  clock: ZoneClock,
  from: { wallAfterMs: number; afterMs: number },
): number | undefined {
  for (let wallMs = nextWallMs(from.wallAfterMs); wallMs !== undefined; ) {
    const instants = clock.instantsOf(wallMs);
    const ticks = isFixedTime ? instants.slice(0, 1) : instants;
    const atMs = ticks.find((tick) => tick > from.afterMs);
    if (atMs !== undefined) return atMs;
    if (instants.length > 0) {
      wallMs = nextWallMs(wallMs);
      continue;
    }
    const endMs = clock.changeAt(wallMs);
    if (isFixedTime) return endMs;
    // None of the skipped times matches; the first second after them may.
    wallMs = nextWallMs(Math.max(wallMs, clock.wallMs(endMs) - SECOND_MS));
  }
  return undefined;
}
