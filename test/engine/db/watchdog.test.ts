import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBatcher } from '../../../engine/src/db/batcher.ts';
import { isDatabaseAway } from '../../../engine/src/db/lost-connection.ts';
import { createWatchdog } from '../../../engine/src/db/watchdog.ts';
import { testLog } from '../../support/logs.ts';

const STUCK_AFTER_MS = 30_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function startWatchdog() {
  const told: string[] = [];
  const state = { isAway: false };
  const watchdog = createWatchdog({
    isAway: () => state.isAway,
    onStuck: (what) => told.push(what),
    stuckAfterMs: STUCK_AFTER_MS,
    log: testLog,
    nowMs: Date.now,
  });
  return { watchdog, told, state };
}

test('a commit that does not end is given up with its items, told, and forgotten once the next one ends', async () => {
  const { watchdog, told } = startWatchdog();
  let hangs = true;
  const { add, size } = createBatcher<number, number>({
    maxBatch: 10,
    minIntervalMs: 0,
    watch: watchdog.part('commits of runs'),
    commit: (items) => (hangs ? new Promise(() => undefined) : Promise.resolve(items)),
  });
  const outcomes = Promise.allSettled([add(1), add(2)]);
  await vi.advanceTimersByTimeAsync(STUCK_AFTER_MS / 2);
  expect([watchdog.problems(), size()]).toEqual([[], 2]);
  await vi.advanceTimersByTimeAsync(STUCK_AFTER_MS / 2 + 10);
  for (const outcome of await outcomes) expect(isDatabaseAway((outcome as PromiseRejectedResult).reason)).toBe(true);
  expect([watchdog.problems(), told, size()]).toEqual([
    ['2 commits of runs did not end within 30 s'],
    ['commits of runs'],
    0,
  ]);
  hangs = false;
  const next = add(3);
  await vi.advanceTimersByTimeAsync(10);
  expect([await next, watchdog.problems()]).toEqual([3, []]);
  watchdog.stop();
});

test('work that waits too long is reported while the database answers, and only then', async () => {
  const { watchdog, state } = startWatchdog();
  let isIdle = true;
  watchdog.look('invocations', () => isIdle);
  state.isAway = true;
  await vi.advanceTimersByTimeAsync(STUCK_AFTER_MS * 2);
  expect(watchdog.problems()).toEqual([]);
  state.isAway = false;
  await vi.advanceTimersByTimeAsync(STUCK_AFTER_MS - 2_000);
  expect(watchdog.problems()).toEqual([]);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(watchdog.problems()).toEqual(['invocations make no progress']);
  isIdle = false;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(watchdog.problems()).toEqual([]);
  watchdog.stop();
});
