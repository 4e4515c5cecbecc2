import { LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { createAccountTurns } from '../../../api/src/index.ts';

const BYTES_PER_SECOND = 500_000;
const REQUESTS_PER_SECOND = 100;
const LARGE = LIMITS.smallBodyBytes + 100_000;

function makeTurns() {
  const clock = { ms: 0, isBusy: false };
  const isBusy = () => clock.isBusy;
  const rates = { bytesPerSecond: BYTES_PER_SECOND, requestsPerSecond: REQUESTS_PER_SECOND };
  return { clock, turns: createAccountTurns({ nowMs: () => clock.ms, isBusy, ...rates }) };
}

test('an account that is alone here sends as fast as it can', () => {
  const { turns } = makeTurns();
  for (let i = 0; i < 1_000; i++) expect(turns.take('o_one', LARGE)).toBeUndefined();
});

test('while another is here, large bodies of an account are read at a pace, and nothing of the other waits', async () => {
  const { turns } = makeTurns();
  expect(turns.take('o_other', 10)).toBeUndefined();
  expect(turns.take('o_one', LARGE)).toBeUndefined();
  const beganMs = performance.now();
  const order: string[] = [];
  const waiting = ['second', 'third'].map(async (name) => {
    await turns.take('o_one', LARGE);
    order.push(name);
  });
  expect(turns.take('o_other', LARGE)).toBeUndefined();
  expect(turns.take('o_one', LIMITS.smallBodyBytes)).toBeUndefined();
  await Promise.all(waiting);
  expect(order).toEqual(['second', 'third']);
  // Timers may be a moment early.
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(390);
});

test('a body that had not announced its length makes the next one wait', () => {
  const { turns } = makeTurns();
  void turns.take('o_other', 10);
  expect(turns.take('o_one', undefined)).toBeUndefined();
  turns.count('o_one', LARGE);
  expect(turns.take('o_one', 0)).toBeUndefined();
  expect(turns.take('o_one', undefined)).toBeInstanceOf(Promise);
});

test('a request that would wait too long is refused with the time for a retry', () => {
  const { turns } = makeTurns();
  void turns.take('o_other', 10);
  void turns.take('o_one', (LIMITS.maxRequestWaitMs / 1_000) * BYTES_PER_SECOND + LARGE);
  expect(() => turns.take('o_one', LARGE)).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', retryAfterSeconds: 21 }),
  );
  expect(turns.take('o_one', 10)).toBeUndefined();
});

test('on a busy thread many requests of one account wait, requests of others do not, and later none does', () => {
  const { clock, turns } = makeTurns();
  clock.isBusy = true;
  const burst = (LIMITS.busyBurstMs / 1_000) * REQUESTS_PER_SECOND;
  for (let i = 0; i < 1_000; i++) expect(turns.take('o_one', 10)).toBeUndefined();
  expect(turns.take('o_other', 10)).toBeUndefined();
  const waits = Array.from({ length: burst + 2 }, () => turns.take('o_one', 10) instanceof Promise);
  expect(waits.indexOf(true)).toBe(burst + 1);
  expect(turns.take('o_other', 10)).toBeUndefined();
  clock.ms += 1_000;
  expect(turns.take('o_other', 10)).toBeUndefined();
  expect(turns.take('o_one', 10)).toBeUndefined();
  clock.isBusy = false;
  for (let i = 0; i < 1_000; i++) expect(turns.take('o_one', 10)).toBeUndefined();
});
