import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ComponentBundle } from '@headwater/sandbox-runtime';
import { LIMITS } from '@headwater/shared';
import { createBuildTurns } from '../../sandbox-runtime/src/builder/build-turns.ts';
import { buildKitForFile } from '../support/build-kit.ts';
import { eventually } from '../support/eventually.ts';

/* The chars of bundles that a node holds between build and storage are bounded for each tenant. */

const kit = buildKitForFile();
const LARGE = 'x'.repeat(LIMITS.maxHeldBuildChars / 2);
const large: ComponentBundle = { code: LARGE, sourceMap: '', hash: '' };

function world() {
  const turns = createBuildTurns({ buildMs: 60_000, bundleMs: 60_000 });
  const begun: string[] = [];
  /** Makes a large bundle in a turn, and holds it until it is let go. */
  function save(name: string, kind: 'plain' | 'packages' = 'plain') {
    const { promise, resolve } = Promise.withResolvers<void>();
    const done = turns.holding(name.charAt(0), async (hold) => {
      await turns[kind].run(name.charAt(0), async () => {
        begun.push(name);
        hold(large);
      });
      await promise;
    });
    return async () => {
      resolve();
      await done;
    };
  }
  return { turns, begun, save };
}

test('a tenant whose bundles take what they may waits until one of them is stored, and others do not', async () => {
  const { begun, save } = world();
  const [first, ...plain] = [save('a1'), save('a2'), save('a3'), save('a4')];
  await eventually(() => begun.length === 2, { what: 'those that there is room for' });
  const rest = [...plain, save('a5', 'packages'), save('b1'), save('b2', 'packages')];
  await eventually(() => begun.length >= 4, { what: 'those of others' });
  await sleep(20);
  expect(begun.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2']);
  await first?.();
  await eventually(() => begun.length > 4, { what: 'the next' });
  await sleep(20);
  // One of each kind: neither has anything yet when the other begins.
  expect(begun.slice(4).toSorted()).toEqual(['a3', 'a5']);
  for (const letGo of rest) await letGo();
  expect(begun.slice(6)).toEqual(['a4']);
});

test('a failed build holds no memory', async () => {
  const { turns, begun, save } = world();
  const failing = turns.holding('a', async (hold) => {
    hold(large);
    hold(large);
    await sleep(10);
    throw new Error('not stored');
  });
  const letGo = save('a1');
  expect(begun).toEqual([]);
  await expect(failing).rejects.toThrow('not stored');
  await letGo();
  expect(begun).toEqual(['a1']);
});

test('builds do not wait for room on a node that stops', async () => {
  const { turns, begun, save } = world();
  const lets = [save('a1'), save('a2'), save('a3')];
  await eventually(() => begun.length === 2, { what: 'those that may begin' });
  turns.stop();
  await eventually(() => begun.length === 3, { what: 'the last' });
  for (const letGo of lets) await letGo();
  expect(begun).toEqual(['a1', 'a2', 'a3']);
});

test('a bundle made earlier is not read before there is room for it', async () => {
  const builder = kit.builder();
  const component = { entry: 'a.mjs', files: { 'a.mjs': "import 'any@1.0.0'; export default 1;" } };
  const waiting = Promise.withResolvers<void>();
  let [read, used] = [0, 0];
  const all = Array.from({ length: 4 }, () => {
    const findEarlier = async () => {
      read++;
      return { bundle: large, dependencies: {} };
    };
    return builder.buildFor({ tenantId: 'o_one', component, findEarlier }, async ({ ok }) => {
      used++;
      await waiting.promise;
      return ok;
    });
  });
  await eventually(() => used === 2, { what: 'those that there is room for' });
  const other = await builder.build({ tenantId: 'o_two', component: { entry: 'b.js', files: { 'b.js': '1' } } });
  expect({ read, used, other: other.ok }).toEqual({ read: 2, used: 2, other: true });
  waiting.resolve();
  expect(await Promise.all(all)).toEqual([true, true, true, true]);
  expect(read).toBe(4);
});
