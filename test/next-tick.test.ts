import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkTimer, nextTickMs } from '../engine/src/schedule/next-tick.ts';

it('an interval ticks on its anchor plus whole intervals, whatever time the last tick really ran at', () => {
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

it('a cron expression follows its time zone across the change to summer time', () => {
  const schedule = { cron: '30 9 * * *', timezone: 'Europe/Berlin' };
  const before = nextTickMs(schedule, 0, Date.UTC(2026, 2, 28, 0, 0));
  const after = nextTickMs(schedule, 0, Date.UTC(2026, 2, 29, 12, 0));
  expect(new Date(before ?? 0).toISOString()).toBe('2026-03-28T08:30:00.000Z');
  expect(new Date(after ?? 0).toISOString()).toBe('2026-03-30T07:30:00.000Z');
});

it.each([
  [{ intervalSeconds: 0 }, /at least 1/],
  [{ intervalSeconds: 1.5 }, /integer/],
  [{ intervalSeconds: '60' }, /integer/],
  [{ intervalSeconds: 1e12 }, /at most/],
  [{ cron: 'every day' }, /not valid/],
  [{ cron: '0 0 30 2 *' }, /never matches|not valid/],
  [{ cron: '* * * * *', timezone: 'Mars/Olympus' }, /not valid/],
  [{}, /intervalSeconds/],
  ['60', /Expected/],
])('refuses the timer %j and says why', (value, message) => {
  expect(checkTimer(value)).toMatch(message);
});
