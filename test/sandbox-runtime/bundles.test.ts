import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBundles, type HeldBundle } from '../../engine/src/runs/bundles.ts';
import { ACCOUNT_LIMITS } from '../../shared/src/index.ts';
import { eventually } from '../support/eventually.ts';
import { fc } from '../support/properties.ts';

const LARGEST = ACCOUNT_LIMITS.maxBundleBytes.max;
/** Code of any length without the memory. */
const codeOf = (length: number) => ({ length }) as string;

/** Components are named by the size of their code. */
function world(maxHeldChars: number) {
  const reads: string[] = [];
  const hold = createBundles({
    maxHeldChars,
    async read(componentId) {
      reads.push(componentId);
      await turn();
      if (componentId.startsWith('broken')) throw new Error('no database');
      if (componentId.startsWith('gone')) return undefined;
      return { code: codeOf(Number(componentId.split(':')[1])), sourceMap: '', hash: componentId };
    },
  });
  return { reads, hold };
}

test('runs of one component hold it once, and it is kept for the next ones', async () => {
  const { hold, reads } = world(LARGEST);
  const [a, b] = await Promise.all([hold('o_1', 'a:10'), hold('o_1', 'a:10')]);
  expect(a?.bundle).toBe(b?.bundle);
  a?.letGo();
  b?.letGo();
  expect((await hold('o_2', 'a:10'))?.bundle).toBe(a?.bundle);
  expect(reads).toEqual(['a:10']);
});

test('large components of one account push out nothing of another', async () => {
  const { hold, reads } = world(LARGEST);
  const run = async (accountId: string, componentId: string) => (await hold(accountId, componentId))?.letGo();
  await run('o_2', 'limitTimeShare:10');
  for (let i = 0; i < 30; i++) await run('o_1', `${i % 15}:${LARGEST}`);
  await run('o_2', 'limitTimeShare:10');
  expect(reads.filter((id) => id === 'limitTimeShare:10')).toHaveLength(1);
});

test('runs of one account that would hold more than it may wait, those of others do not', async () => {
  const { hold } = world(LARGEST);
  const size = LARGEST / 2;
  const first = await hold('o_1', `a:${size + 1}`);
  let second: HeldBundle | undefined;
  void hold('o_1', `b:${size}`).then((held) => (second = held));
  expect((await hold('o_2', `b:${size}`))?.bundle.hash).toBe(`b:${size}`);
  expect((await hold('o_1', `a:${size + 1}`))?.bundle).toBe(first?.bundle);
  for (let i = 0; i < 5; i++) await turn();
  expect(second).toBeUndefined();
  first?.letGo();
  for (let i = 0; i < 5; i++) await turn();
  // One of the two runs of it goes on.
  expect(second).toBeUndefined();
  first?.letGo();
  await eventually(() => second?.bundle.hash === `b:${size}`);
});

test('a bundle that is gone or unreadable holds no memory', async () => {
  const { hold } = world(10);
  expect(await hold('o_1', 'gone')).toBeUndefined();
  await expect(hold('o_1', 'broken')).rejects.toThrow('no database');
  const others = ['gone', 'broken', 'a:10'].map((id) => hold('o_1', id).catch((error: Error) => error.message));
  expect(await Promise.all(others)).toMatchObject([undefined, 'no database', { bundle: { hash: 'a:10' } }]);
});

test('runs in any order never hold too much at a time, and each has its turn', async () => {
  const size = fc.integer({ min: 1, max: LARGEST });
  const sizes = fc.array(size, { minLength: 1, maxLength: 6 });
  const runs = fc.array(fc.record({ component: fc.nat(5), turns: fc.nat(3) }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(sizes, runs, fc.integer({ min: 1, max: 3 * LARGEST }), async (all, script, max) => {
      const { hold } = world(max);
      const held = new Map<string, number>();
      const run = async ({ component, turns }: (typeof script)[number]) => {
        const id = `${component % all.length}:${all[component % all.length]}`;
        const one = await hold('o_1', id);
        held.set(id, (held.get(id) ?? 0) + 1);
        const chars = [...held.keys()].reduce((sum, key) => sum + Number(key.split(':')[1]), 0);
        expect(held.size === 1 || chars <= max).toBe(true);
        for (let i = 0; i < turns; i++) await turn();
        const left = (held.get(id) ?? 0) - 1;
        if (left === 0) held.delete(id);
        else held.set(id, left);
        one?.letGo();
      };
      await Promise.all(script.map(run));
    }),
    { numRuns: 200 },
  );
});
