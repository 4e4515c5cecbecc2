import { expect, test } from 'vitest';
import { createPostponedLanes } from '../../../engine/src/db/jobs/postponed-lanes.ts';

function atHand() {
  const clock = { nowMs: 1_000_000 };
  return { clock, postponed: createPostponedLanes(500, () => clock.nowMs) };
}

test('a lane that found no room comes round again after the pause', () => {
  const { clock, postponed } = atHand();
  expect(postponed.nextTryMs('o_a')).toBe(clock.nowMs + 500);
  clock.nowMs += 10_000;
  expect(postponed.nextTryMs('o_a')).toBe(clock.nowMs + 500);
});

test('a thousand lanes of one tenant retry one after the other, and delay no lane of another tenant', () => {
  const { clock, postponed } = atHand();
  const times = Array.from({ length: 1_000 }, () => postponed.nextTryMs('o_a') - clock.nowMs);
  const inFirstSecond = times.filter((afterMs) => afterMs < 1_500).length;
  expect(inFirstSecond).toBeLessThanOrEqual(50);
  expect(new Set(times).size).toBe(1_000);
  expect(postponed.nextTryMs('o_b')).toBe(clock.nowMs + 500);
});
