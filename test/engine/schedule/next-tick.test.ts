import { fc } from '../../support/properties.ts';
import { expect, it, vi } from 'vitest';
import { checkTimer, timerCheck, timerOf } from '../../../engine/src/schedule/check-timer.ts';
import { nextAfterMs, nextTickMs } from '../../../engine/src/schedule/next-tick.ts';
import { slowness } from '../../support/longest-turn.ts';
import { LIMITS } from '../../../shared/src/index.ts';

it('an interval ticks on its anchor plus whole intervals, however late the last tick ran', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100_000 }),
      fc.integer({ min: 0, max: 2 ** 41 }),
      fc.integer({ min: 0, max: 10 ** 9 }),
      (intervalSeconds, anchorMs, latenessMs) => {
        const afterMs = anchorMs + latenessMs;
        const next = nextTickMs({ intervalSeconds }, anchorMs, afterMs) as number;
        expect((next - anchorMs) % (intervalSeconds * 1000)).toBe(0);
        expect(next).toBeGreaterThan(afterMs);
        expect(next - afterMs).toBeLessThanOrEqual(intervalSeconds * 1000);
      },
    ),
  );
});

it('each tick is due later than the one before, a late one costs none after it, and after a downtime there is one', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.double({ min: 0, max: 1e12, noNaN: true }),
      fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 20 }),
      (intervalSeconds, anchorMs, latenesses) => {
        const after = (ms: number) => Math.round(nextTickMs({ intervalSeconds }, anchorMs, ms) as number);
        let dueMs = after(anchorMs);
        for (const latenessMs of latenesses) {
          const nextMs = after(nextAfterMs(dueMs, dueMs + latenessMs));
          const isNext = Math.abs(nextMs - dueMs - intervalSeconds * 1_000) <= 1;
          expect(latenessMs <= 2_000 ? isNext : nextMs >= dueMs + latenessMs).toBe(true);
          // In another second, which is what the event says.
          expect(Math.floor(nextMs / 1_000)).toBeGreaterThan(Math.floor(dueMs / 1_000));
          dueMs = nextMs;
        }
      },
    ),
  );
});

/** The ticks from `from` on, as UTC; `Z` and the seconds left out. */
function ticks(cron: string, timezone: string, from: string, count: number): string[] {
  const found: string[] = [];
  for (let atMs = Date.parse(from); found.length < count; ) {
    atMs = nextTickMs({ cron, timezone }, 0, atMs) as number;
    found.push(new Date(atMs).toISOString().slice(0, 16));
  }
  return found;
}

// Each zone's change into summer time and out of it; times of day in the skipped and in the
// repeated hour.
it.each([
  ['30 9 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', ['2026-03-28T08:30', '2026-03-29T07:30', '2026-03-30T07:30']],
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T00:00Z', ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']],
  ['30 2,14 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', ['2026-03-29T01:00', '2026-03-29T12:30', '2026-03-30T00:30']],
  ['30 2,14 * * *', 'Europe/Berlin', '2026-10-25T00:00Z', ['2026-10-25T00:30', '2026-10-25T13:30', '2026-10-26T01:30']],
  [
    '15,45 2-3 * * *',
    'Europe/Berlin',
    '2026-03-29T00:00Z',
    ['2026-03-29T01:00', '2026-03-29T01:15', '2026-03-29T01:45'],
  ],
  ['15,45 2 * * *', 'Europe/Berlin', '2026-10-25T00:00Z', ['2026-10-25T00:15', '2026-10-25T00:45', '2026-10-26T01:15']],
  ['*/20 2 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', ['2026-03-30T00:00']],
  ['30 2 * * *', 'America/New_York', '2026-03-08T00:00Z', ['2026-03-08T07:00', '2026-03-09T06:30']],
  ['30 1 * * *', 'America/New_York', '2026-10-31T00:00Z', ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30']],
  [
    '15 2 * * *',
    'Australia/Lord_Howe',
    '2026-10-02T12:00Z',
    ['2026-10-02T15:45', '2026-10-03T15:30', '2026-10-04T15:15'],
  ],
  ['0 0 * * *', 'America/Havana', '2026-03-07T00:00Z', ['2026-03-07T05:00', '2026-03-08T05:00', '2026-03-09T04:00']],
  ['30 0 * * *', 'America/Santiago', '2025-09-06T12:00Z', ['2025-09-07T04:00', '2025-09-08T03:30']],
  ['0 12 * * *', 'Asia/Kolkata', '2026-03-28T00:00Z', ['2026-03-28T06:30', '2026-03-29T06:30']],
  ['0 12 * * *', 'Pacific/Chatham', '2026-04-03T00:00Z', ['2026-04-03T22:15', '2026-04-04T23:15']],
  ['0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['0 0 29 2 +7', 'UTC', '2026-11-25T00:00Z', ['2032-02-29T00:00', '2060-02-29T00:00', '2088-02-29T00:00']],
  ['0 0 29 2 +7', 'UTC', '2088-03-01T00:00Z', ['2128-02-29T00:00']],
  ['0 0 1 1 +5', 'UTC', '2026-11-25T00:00Z', ['2027-01-01T00:00', '2038-01-01T00:00', '2044-01-01T00:00']],
])('"%s" in %s after %s ticks at %j', (cron, timezone, from, expected) => {
  expect(ticks(cron, timezone, from, expected.length)).toEqual(expected);
});

it('a step ticks through the repeated hour without a gap, and goes on after the skipped one', () => {
  expect(ticks('*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:45Z', 6)).toEqual([
    '2026-10-25T00:00',
    '2026-10-25T00:30',
    '2026-10-25T01:00',
    '2026-10-25T01:30',
    '2026-10-25T02:00',
    '2026-10-25T02:30',
  ]);
  expect(ticks('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:15Z', 3)).toEqual([
    '2026-03-29T00:30',
    '2026-03-29T01:00',
    '2026-03-29T01:30',
  ]);
});

const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'Asia/Tehran'];

/** Local time, in minutes of the day. */
function localMinute(atMs: number, timeZone: string): number {
  const shown = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(atMs);
  const [hour = 0, minute = 0] = shown.split(':').map(Number);
  return hour * 60 + minute;
}

const MINUTES_A_DAY = 24 * 60;
const minutesFrom = (start: number, end: number) => (end - start + MINUTES_A_DAY) % MINUTES_A_DAY;

it('a daily tick is at its time of day on the wall, once a day, or at the end of the gap that swallowed it', () => {
  const anyMinute = fc.integer({ min: 0, max: 24 * 60 - 1 });
  const anyStart = fc.integer({ min: Date.UTC(2024, 0), max: Date.UTC(2027, 0) });
  fc.assert(
    fc.property(anyMinute, anyStart, fc.constantFrom(...ZONES), (minuteOfDay, startMs, timezone) => {
      const [hour, minute] = [Math.floor(minuteOfDay / 60), minuteOfDay % 60];
      const cron = `${minute} ${hour} * * *`;
      let beforeMs = nextTickMs({ cron, timezone }, 0, startMs) as number;
      for (let day = 0; day < 5; day++) {
        const atMs = nextTickMs({ cron, timezone }, 0, beforeMs) as number;
        const hours = (atMs - beforeMs) / 3_600_000;
        expect(hours).toBeGreaterThanOrEqual(22);
        expect(hours).toBeLessThanOrEqual(26);
        // True if the clock jumped over the wanted time in the minute before, also over midnight as
        // in Santiago.
        const minuteBefore = localMinute(atMs - 60_000, timezone);
        const shown = localMinute(atMs, timezone);
        const isSwallowed = minutesFrom(minuteBefore, minuteOfDay) < minutesFrom(minuteBefore, shown);
        expect(shown === minuteOfDay || isSwallowed).toBe(true);
        beforeMs = atMs;
      }
    }),
    { numRuns: 300 },
  );
});

it.each([
  [{ cron: '*/10 * * * * *' }, 10_000],
  [{ cron: '*/5 * * * *' }, 300_000],
  [{ cron: '@hourly' }, 3_600_000],
])('%j ticks every %d ms: six fields have seconds first, five have none', (schedule, everyMs) => {
  const first = nextTickMs(schedule, 0, Date.UTC(2026, 0)) as number;
  expect((nextTickMs(schedule, 0, first) as number) - first).toBe(everyMs);
});

it.each([
  [{ intervalSeconds: 900 }, { intervalSeconds: 900 }],
  [{ interval_seconds: 900 }, { intervalSeconds: 900 }],
  [{ cron: null, interval_seconds: 900 }, { intervalSeconds: 900 }],
  [{ cron: '0 9 * * *', interval_seconds: null }, { cron: '0 9 * * *' }],
  [
    { cron: '0 9 * * *', timezone: 'Europe/Paris' },
    { cron: '0 9 * * *', timezone: 'Europe/Paris' },
  ],
  [{ cron: '0 9 * * *', timezone: null, intervalSeconds: 60 }, { cron: '0 9 * * *' }],
])('takes the timer %j, as components write it and as the API shows it', (value, schedule) => {
  expect([checkTimer(value), timerOf(value)]).toEqual([undefined, schedule]);
});

it.each([
  [{ intervalSecond: 60 }, /no intervalSecond: did you mean intervalSeconds\?/],
  [{ cron: '0 9 * * *', tz: 'Europe/Paris' }, /A timer has no tz/],
  [{ cron: '0 9 * * *', timeZone: 'Europe/Paris' }, /did you mean timezone\?/],
  [{ intervalSeconds: 0 }, /at least 1/],
  [{ intervalSeconds: -60 }, /at least 1/],
  [{ intervalSeconds: 1.5 }, /integer/],
  [{ intervalSeconds: '60' }, /integer/],
  [{ cron: 'every day' }, /not valid/],
  [{ cron: '* * * *' }, /five fields/],
  [{ cron: '* * * * * * *' }, /five fields/],
  [{ cron: '2026-12-01T00:00:00' }, /five fields/],
  [{ cron: '61 * * * *' }, /not valid/],
  [{ cron: '@fortnightly' }, /not valid/],
  [{ cron: '' }, /not valid/],
  [{ cron: 5 }, /must be a string/],
  [{ cron: '0 0 30 2 *' }, /never matches|not valid/],
  [{ cron: '0 0 1W,2W,3W,4W,5W * +6' }, /never matches/],
  [{ cron: '* * * * *', timezone: 'Mars/Olympus' }, /time zone "Mars\/Olympus"/],
  [{ cron: '* * * * *', timezone: '+02:00' }, /time zone/],
  [{ cron: '* * * * *', timezone: 2 }, /timezone must be a string/],
  [{}, /intervalSeconds/],
  [[], /Expected/],
  ['60', /Expected/],
])('refuses the timer %j and says why', (value, message) => {
  expect(checkTimer(value)).toMatch(message);
});

it.each([
  [{ interval_seconds: 1e12 }, /at most 31622400/, 'maxTimerIntervalSeconds', 1e12],
  [{ cron: `0 0 ${'1,'.repeat(400)}1 * *` }, /at most 512 characters/, 'maxCronChars', 809],
  [{ cron: '0 0 1W,2w,3W,4W,5W,6W * *' }, /more than 5 nearest weekdays/, 'maxNearestWeekdays', 6],
] as const)('refuses the timer %j and names the limit', (value, message, name, used) => {
  const limit = { name, value: LIMITS[name], used };
  expect(checkTimer(value)).toEqual({ message: expect.stringMatching(message), limit });
});

it.each([
  ['* * 2 25-31 3 +7', 'Europe/Paris'],
  ['* * 2 8-14 3 +7', 'America/New_York'],
  ['* * 2 31 3 +7#5', 'Antarctica/Troll'],
])('"%s", which matches in the skipped hour of %s alone, never matches, and that is soon known', (cron, timezone) => {
  const began = process.cpuUsage();
  expect(checkTimer({ cron, timezone })).toMatch(/never matches/);
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(1_000);
});

it('a time zone in another spelling is the same one, and takes no memory of its own', () => {
  const cron = '30 2 * * *';
  expect(checkTimer({ cron, timezone: 'Pacific/Auckland' })).toBeUndefined();
  const formats = vi.spyOn(Intl, 'DateTimeFormat');
  expect(checkTimer({ cron, timezone: 'pAcIfIc/aUcKlAnD' })).toBeUndefined();
  expect(formats).not.toHaveBeenCalled();
  formats.mockRestore();
});

/**
 * On the machine that bounds of tests are set on; without what other work of this process there is
 * by chance.
 */
function threadMs(work: () => unknown): number {
  const once = () => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  return Math.min(once(), once(), once(), once(), once()) / slowness();
}

const NEVER = [
  '0 0 1W,2W,3W,4W,5W * +6',
  '0 0 1-20 * +0L,1L,2L,3L,4L,5L,6L',
  '0 0 1-28 * +0#5,1#5,2#5,3#5,4#5,5#5,6#5',
  '* * 2 25-31 3 +7',
];

it.each(NEVER)('the check that "%s" never matches is quick, for one timer and for 500', (cron) => {
  const timer = { cron, timezone: 'Europe/Paris' };
  expect(threadMs(() => checkTimer(timer))).toBeLessThan(20);
  let problems: unknown[] = [];
  const manyMs = threadMs(() => {
    const check = timerCheck();
    problems = Array.from({ length: 500 }, () => check(timer));
  });
  expect(manyMs).toBeLessThan(20);
  expect(problems.filter((problem) => problem !== undefined)).toEqual([expect.stringMatching(/never matches/)]);
});

it('timers of one request: 50 may have an expression, however rarely they match, and the faults of its form are all told', () => {
  const rare = (i: number) => ({ cron: `${i % 60} 0 29 2 +6` });
  const check = timerCheck();
  const problems = Array.from({ length: 60 }, (_, i) => check(rare(i)));
  expect(problems.flatMap((problem, i) => (problem === undefined ? [] : [[i, problem]]))).toEqual([
    [
      50,
      {
        message: 'At most 50 timers may have a cron expression',
        limit: { name: 'maxTimerCrons', value: LIMITS.maxTimerCrons, used: 51 },
      },
    ],
  ]);
  expect([check({ intervalSeconds: 60 }), check({ intervalSeconds: 0 })]).toEqual([undefined, expect.any(String)]);
  expect(check({ cron: 'every day' })).toMatch(/five fields/);
});
