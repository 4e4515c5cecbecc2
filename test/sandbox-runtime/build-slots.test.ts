import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BuildSlots } from '../../sandbox-runtime/src/builder/build-slots.ts';

const SLOW_MS = 50;

/**
 * Builds that end when they are told to; `begun` has the names of those that have begun, in order.
 */
function world(slowForMs: number) {
  const slots = new BuildSlots({
    max: 2,
    maxWaiting: 2,
    limitName: 'maxQueuedBuildsPerTenant',
    slowMs: SLOW_MS,
    slowForMs,
  });
  const begun: string[] = [];
  function build(name: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = slots.run(name.charAt(0), async () => {
      begun.push(name);
      await promise;
    });
    return async () => {
      resolve();
      await done;
    };
  }
  /** Tenants a and b each have a build that takes long. */
  async function makeSlow() {
    const ends = [build('a1'), build('b1')];
    await sleep(SLOW_MS * 1.5);
    for (const end of ends) await end();
    begun.length = 0;
  }
  return { slots, begun, build, makeSlow };
}

test('one tenant leaves a slot to the others', async () => {
  const { begun, build } = world(60_000);
  const ends = [build('a1'), build('a2'), build('b1'), build('b2')];
  await sleep(0);
  expect(begun).toEqual(['a1', 'b1']);
  for (const end of ends) await end();
  expect(begun.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2']);
});

test('tenants whose builds were slow leave a slot to the others together', async () => {
  const { begun, build, makeSlow } = world(60_000);
  await makeSlow();
  const ends = [build('a2'), build('b2'), build('c1')];
  await sleep(0);
  expect(begun).toEqual(['a2', 'c1']);
  for (const end of ends) await end();
  expect(begun).toEqual(['a2', 'c1', 'b2']);
});

test('slow tenants build one at a time, and side by side again once they are forgotten', async () => {
  const { begun, build, makeSlow } = world(SLOW_MS);
  await makeSlow();
  const first = build('a2');
  const second = build('b2');
  await first();
  await sleep(0);
  expect(begun).toEqual(['a2', 'b2']);
  await second();
  await sleep(SLOW_MS * 1.5);
  const ends = [build('a3'), build('b3')];
  await sleep(0);
  expect(begun.slice(2)).toEqual(['a3', 'b3']);
  for (const end of ends) await end();
});

test('beyond the queue of one tenant the next build is refused, and others are not', async () => {
  const { slots, build } = world(60_000);
  const ends = [build('a1'), build('a2'), build('a3')];
  await expect(slots.run('a', async () => undefined)).rejects.toMatchObject({
    code: 'RATE_LIMITED',
    limit: { name: 'maxQueuedBuildsPerTenant', value: 2, used: 3 },
  });
  await expect(slots.run('b', async () => 'built')).resolves.toBe('built');
  for (const end of ends) await end();
  await expect(slots.run('a', async () => 'built')).resolves.toBe('built');
});
