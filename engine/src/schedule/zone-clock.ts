/**
 * The clock on the wall of a time zone. A wall time is what UTC would have when its clock showed
 * the same.
 */
export interface ZoneClock {
  wallMs(atMs: number): number;
  /**
   * The instants at which the clock shows this time, earliest first. Usually one; two if the clock
   * was put back, none if it was put forward.
   */
  instantsOf(wallMs: number): number[];
  /** When the clock was changed that shows this wall time twice or never. */
  changeAt(wallMs: number): number;
}

const DAY_MS = 24 * 3600 * 1000;
const SECOND_MS = 1000;

/**
 * By name in small letters: the platform takes `eUrOpE/pArIs` as well, and a format for each
 * spelling would fill the memory. To make one takes a millisecond.
 */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws a RangeError where the platform does not know the zone. */
export function zoneClock(timeZone: string): ZoneClock {
  const format = formatOf(timeZone);
  const wallMs = (atMs: number) => readWall(format, atMs);
  const offsetMs = (atMs: number) => wallMs(atMs) - atMs;
  return {
    wallMs,
    instantsOf(wall) {
      // No zone changes its clock twice in two days.
      const offsets = new Set([offsetMs(wall - DAY_MS), offsetMs(wall + DAY_MS)]);
      const instants = [...offsets].map((offset) => wall - offset).filter((atMs) => wallMs(atMs) === wall);
      return instants.sort((a, b) => a - b);
    },
    changeAt(wall) {
      let [before, after] = [wall - DAY_MS, wall + DAY_MS];
      const offset = offsetMs(before);
      while (after - before > SECOND_MS) {
        const middle = before + Math.floor((after - before) / 2 / SECOND_MS) * SECOND_MS;
        if (offsetMs(middle) === offset) before = middle;
        else after = middle;
      }
      return after;
    },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const name = timeZone.toLowerCase();
  const known = formats.get(name);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(name, format);
  return format;
}

/**
 * The format of en-US. Parsing the text takes some 2 µs, a fifth of formatToParts, and an
 * expression may need thousands.
 */
const SHOWN = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/;

function readWall(format: Intl.DateTimeFormat, atMs: number): number {
  const text = format.format(atMs);
  const shown = SHOWN.exec(text);
  if (shown === null) throw new Error(`A time is shown as ${text}`);
  const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = shown.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) + (atMs % SECOND_MS);
}
