import { fc } from '../../support/properties.ts';
import { expect, test } from 'vitest';
import { createRetryPolicy } from '../../../engine/src/outbox/retry-policy.ts';

const nowMs = Date.UTC(2026, 0, 1);
const half = () => 0.5;

test('eight attempts within about 28 hours, then none', () => {
  const policy = createRetryPolicy({ random: half });
  const waits: number[] = [];
  for (let number = 1; ; number++) {
    const decision = policy({ number, statusCode: 500, endedAtMs: nowMs });
    if (decision.kind === 'give-up') break;
    waits.push((decision.atMs - nowMs) / 1_000);
  }
  expect(waits).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]);
});

test('for any schedule, jitter, failure and Retry-After the next attempt is within its bounds', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 10 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
      fc.integer({ min: 1, max: 12 }),
      fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }),
      fc.option(
        fc.oneof(
          fc.string(),
          fc.nat().map(String),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        {
          nil: undefined,
        },
      ),
      (scheduleSeconds, jitter, random, number, statusCode, retryAfter) => {
        const maxRetryAfterSeconds = 50_000;
        const policy = createRetryPolicy({ scheduleSeconds, jitter, maxRetryAfterSeconds, random: () => random });
        const decision = policy({
          number,
          endedAtMs: nowMs,
          ...(statusCode === undefined ? {} : { statusCode }),
          ...(retryAfter === undefined ? {} : { retryAfter }),
        });
        const waitMs = (scheduleSeconds[number - 1] ?? 0) * 1_000;
        const isOver = number > scheduleSeconds.length || statusCode === 410;
        expect(decision.kind).toBe(isOver ? 'give-up' : 'retry');
        const afterMs = decision.kind === 'retry' ? decision.atMs - nowMs : waitMs;
        const heededMs = statusCode === 429 || statusCode === 503 ? maxRetryAfterSeconds * 1_000 : 0;
        expect(afterMs).toBeGreaterThanOrEqual(Math.floor(waitMs * (1 - jitter)));
        expect(afterMs).toBeLessThanOrEqual(Math.ceil(Math.max(waitMs * (1 + jitter), heededMs)));
      },
    ),
  );
});

test.each([
  [429, '120', 120],
  [503, '120', 120],
  [503, new Date(nowMs + 90_000).toUTCString(), 90],
  [500, '120', 5],
  [429, '1', 5],
  [429, 'soon', 5],
  [429, '-5', 5],
  [429, '999999999', 86_400],
  [429, new Date(nowMs - 90_000).toUTCString(), 5],
])('a %i with Retry-After %j is followed after %i s', (statusCode, retryAfter, seconds) => {
  const decision = createRetryPolicy({ random: half })({ number: 1, statusCode, retryAfter, endedAtMs: nowMs });
  expect(decision).toMatchObject({ kind: 'retry', atMs: nowMs + seconds * 1_000 });
});

test.each([
  [429, '120', 120],
  [503, new Date(nowMs + 90_000).toUTCString(), 90],
  [429, '1', 1],
  [429, '999999999', 86_400],
  [500, '120', undefined],
  [429, 'soon', undefined],
  [429, new Date(nowMs - 90_000).toUTCString(), undefined],
])('a %i with Retry-After %j puts its receiver off by %s seconds', (statusCode, retryAfter, seconds) => {
  const decide = createRetryPolicy({ random: half });
  const until = seconds === undefined ? undefined : nowMs + seconds * 1_000;
  for (const number of [1, 100])
    expect(decide({ number, statusCode, retryAfter, endedAtMs: nowMs }).putOffUntilMs).toBe(until);
});

test('a delivery without an answer is tried again', () => {
  expect(createRetryPolicy({ random: half })({ number: 1, endedAtMs: nowMs }).kind).toBe('retry');
});

test.each([
  { scheduleSeconds: [-1] },
  { scheduleSeconds: [Number.NaN] },
  { jitter: 1.1 },
  { jitter: Number.NaN },
  { maxRetryAfterSeconds: -1 },
])('options %j are refused', (options) => {
  expect(() => createRetryPolicy(options)).toThrow(RangeError);
});
