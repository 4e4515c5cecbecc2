import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurnSteps } from '../../../engine/src/egress/turn-steps.ts';

/** How many of a tenant's steps are done, turn by turn. */
async function doneByTurn(hasSeveral: boolean, count: number) {
  const steps = createTurnSteps({ hasSeveral: () => hasSeveral });
  const order: number[] = [];
  const take = async (tenant: string, nth: number) => {
    await steps(tenant);
    order.push(nth);
  };
  const all = Array.from({ length: count }, (_, nth) => take('big', nth));
  all.push(take('small', count));
  const done: number[] = [];
  while (order.length <= count) {
    await nextTurn();
    done.push(order.length);
  }
  await Promise.all(all);
  return { done, order };
}

test('beside other tenants a few steps of one tenant run in each turn, in order, and other tenants do not wait', async () => {
  const { done, order } = await doneByTurn(true, 40);
  // The first ones at once, and the next in the turn in which that is first looked at.
  expect(done.filter((count, turn) => count > 1 + 4 * (turn + 2))).toEqual([]);
  expect(done.length).toBeGreaterThanOrEqual(9);
  expect(order.indexOf(40)).toBeLessThanOrEqual(4);
  expect(order.filter((nth) => nth < 40)).toEqual(Array.from({ length: 40 }, (_, nth) => nth));
});

test('a single tenant runs all its steps at once', async () => {
  expect((await doneByTurn(false, 10)).done).toEqual([11]);
});
