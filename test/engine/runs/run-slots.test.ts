import { expect, test } from 'vitest';
import { createDispatcher } from '../../../engine/src/runs/dispatcher.ts';
import type { HeldInvocation } from '../../../engine/src/events/invocation.ts';
import { createLimitsCache } from '../../../engine/src/accounts/limits-cache.ts';
import { testLog } from '../../support/logs.ts';

type Step = (on: { ran: () => void; again: () => Promise<boolean> }) => Promise<void>;

function dispatcherOf(run: (id: string) => Step, released: string[] = []) {
  return createDispatcher({
    limits: createLimitsCache({ read: async () => ({ maxRunsPerComponent: 1 }) }),
    log: testLog,
    release: async (invocations) => void released.push(...invocations.map(({ id }) => id)),
    run: ({ id }, ran, again) => run(id)({ ran, again }),
  });
}

function held(id: string): HeldInvocation {
  return {
    id,
    accountId: 'o_a',
    sourceId: 'p_a',
    kind: 'http',
    event: '{}',
    crashes: 0,
    attempts: 1,
    leasedBy: 'node_1',
    claim: 1,
  };
}

test('others run while one waits for its commit, and it goes on before those that have not begun', async () => {
  const order: string[] = [];
  const commit = Promise.withResolvers<void>();
  const dispatcher = dispatcherOf((id) => async ({ ran, again }) => {
    order.push(`${id} begins`);
    if (id === '2') commit.resolve();
    // By then the first one asks for its turn.
    if (id !== '1') return new Promise(setImmediate);
    ran();
    await commit.promise;
    expect(await again()).toBe(true);
    order.push('1 goes on');
  });
  dispatcher.take(['1', '2', '3'].map(held));
  await expect.poll(() => order.length).toBe(4);
  expect(order.indexOf('1 goes on')).toBeLessThan(order.indexOf('3 begins'));
  expect(order.slice(0, 2)).toEqual(['1 begins', '2 begins']);
  await dispatcher.stop();
});

test('one that goes on counts as running again', async () => {
  let running = 0;
  let most = 0;
  const dispatcher = dispatcherOf(() => async ({ ran, again }) => {
    for (let step = 0; step < 3; step++) {
      if (step > 0 && !(await again())) return;
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      ran();
      await new Promise(setImmediate);
    }
  });
  dispatcher.take(Array.from({ length: 20 }, (_, i) => held(String(i))));
  await expect.poll(() => dispatcher.stats()).toEqual({ waiting: 0, running: 0, committing: 0 });
  expect(most).toBe(1);
  await dispatcher.stop();
});

test('a node that stops rejects waiting runs, and gives back those that have not begun', async () => {
  const released: string[] = [];
  const ends: boolean[] = [];
  const go = Promise.withResolvers<void>();
  const dispatcher = dispatcherOf(
    (id) =>
      async ({ ran, again }) => {
        if (id === 'busy') return go.promise;
        ran();
        ends.push(await again());
      },
    released,
  );
  dispatcher.take([held('begun'), held('busy'), held('new')]);
  await expect.poll(() => dispatcher.stats()).toMatchObject({ waiting: 2, running: 1 });
  const stopped = dispatcher.stop();
  go.resolve();
  await stopped;
  expect([ends, released]).toEqual([[false], ['new']]);
});
