import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createStreamBytes } from '../../../engine/src/observe/streams/stream-bytes.ts';

const never = new AbortController().signal;

/** Whether it has resolved by now. */
async function isThrough(waiting: Promise<void>): Promise<boolean> {
  return Promise.race([waiting.then(() => true), sleep(5).then(() => false)]);
}

test('a tenant that has too much in memory waits until some of it is taken, and no other tenant does', async () => {
  const held = createStreamBytes(100);
  held.add('a', 60);
  expect(await isThrough(held.room('a', never))).toBe(true);
  held.add('a', 60);
  const [one, two] = [held.room('a', never), held.room('a', never)];
  expect([await isThrough(one), await isThrough(held.room('b', never))]).toEqual([false, true]);
  held.add('a', -10);
  expect(await isThrough(one)).toBe(false);
  held.add('a', -60);
  expect([await isThrough(one), await isThrough(two)]).toEqual([true, true]);
});

test('a stream that is closed does not go on waiting', async () => {
  const held = createStreamBytes(10);
  held.add('a', 20);
  const closing = new AbortController();
  const waiting = held.room('a', closing.signal);
  expect(await isThrough(waiting)).toBe(false);
  closing.abort();
  expect(await isThrough(waiting)).toBe(true);
  held.add('a', -20);
  expect(await isThrough(held.room('a', never))).toBe(true);
});
