import { LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { createBodyTurns } from '../api/src/index.ts';

const BYTES_PER_SECOND = 500_000;
const LARGE = LIMITS.smallBodyBytes + 100_000;

function makeTurns() {
  const clock = { ms: 0 };
  return { clock, turns: createBodyTurns({ nowMs: () => clock.ms, bytesPerSecond: BYTES_PER_SECOND }) };
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
  expect(turns.take('o_one', 0)).toBeUndefined();
  turns.count('o_one', LARGE);
  expect(turns.take('o_one', 0)).toBeInstanceOf(Promise);
});

test('what would wait too long is refused with when to come again', () => {
  const { turns } = makeTurns();
  void turns.take('o_other', 10);
  void turns.take('o_one', (LIMITS.maxBodyWaitMs / 1_000) * BYTES_PER_SECOND + LARGE);
  expect(() => turns.take('o_one', LARGE)).toThrow(
    expect.objectContaining({ code: 'RATE_LIMITED', retryAfterSeconds: 21 }),
  );
  expect(turns.take('o_one', 10)).toBeUndefined();
});
