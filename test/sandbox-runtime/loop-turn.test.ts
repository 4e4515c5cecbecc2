import { expect, test } from 'vitest';
import { isOthersTurn, othersTurn } from '../../sandbox-runtime/src/worker/loop-turn.ts';

test('a loop that answers without a pause is told to yield until other work had its turn', async () => {
  await othersTurn();
  const startMs = performance.now();
  expect([0, 19, 21, 500].map((ms) => isOthersTurn(startMs + ms))).toEqual([false, false, true, true]);
  await othersTurn();
  expect([0, 19, 21].map((ms) => isOthersTurn(startMs + 1_000 + ms))).toEqual([false, false, true]);
});
