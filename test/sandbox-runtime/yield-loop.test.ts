import { expect, test } from 'vitest';
import { mustYieldLoop, yieldLoop } from '../../sandbox-runtime/src/worker/yield-loop.ts';

test('a loop that answers without a pause is told to yield until other work had its turn', async () => {
  await yieldLoop();
  const startMs = performance.now();
  expect([0, 19, 21, 500].map((ms) => mustYieldLoop(startMs + ms))).toEqual([false, false, true, true]);
  await yieldLoop();
  expect([0, 19, 21].map((ms) => mustYieldLoop(startMs + 1_000 + ms))).toEqual([false, false, true]);
});
