import { expect, test } from 'vitest';
import { createBatcher } from '../../../engine/src/db/batcher.ts';

/* Batches that would wait for rows that another transaction has locked. */

interface Item {
  of: string;
  number: number;
  weight: number;
}

const items = (of: string, count: number): Item[] =>
  Array.from({ length: count }, (_, number) => ({ of, number, weight: 1 }));
const named = (taken: readonly Item[]): string => taken.map(({ of, number }) => `${of}${number}`).join(' ');

const HELD_UP = new Error('held up');

/** Light commits with one of `a` in them are held up, and written down as such. */
function heldUpBatcher(order: string[], isItemsFault?: (error: unknown) => boolean, onHeldUp?: () => void) {
  return createBatcher<Item, undefined>({
    maxBatch: 20,
    minIntervalMs: 0,
    share: { tenantOf: ({ of }) => of, weightOf: ({ weight }) => weight, maxWeight: 40, maxTenantWeight: 20 },
    isHeldUp: (error) => error === HELD_UP,
    ...(isItemsFault === undefined ? {} : { isItemsFault }),
    async commit(batch, patience) {
      const kind = patience === 'endless' ? 'heavy' : 'light';
      if (isItemsFault !== undefined && batch.length > 1 && kind === 'light')
        throw new TypeError('an item is at fault');
      const isHeldUp = kind === 'light' && batch.some(({ of }) => of === 'a');
      order.push(`${kind}${isHeldUp ? ' held up' : ''}: ${named(batch)}`);
      if (!isHeldUp) return batch.map(() => undefined);
      onHeldUp?.();
      throw HELD_UP;
    },
  });
}

test('a light commit that waits for a lock is split by tenant, and a tenant that waits again goes with the heavy ones', async () => {
  const order: string[] = [];
  let late: Promise<undefined> | undefined;
  // It comes while the others of its tenant are held up, and stays behind them.
  const batcher = heldUpBatcher(order, undefined, () => {
    late ??= batcher.add({ of: 'a', number: 3, weight: 1 });
  });
  await Promise.all([...items('n', 2), ...items('a', 3), ...items('b', 1)].map((item) => batcher.add(item)));
  await late;
  await batcher.drain();
  expect(order).toEqual([
    'light held up: n0 a0 b0 n1 a1 a2',
    'light: n0 n1',
    'light held up: a0 a1 a2',
    'light: b0',
    'heavy: a0 a1 a2 a3',
  ]);
  // It would be again: for a while it is heavy.
  await batcher.add({ of: 'a', number: 4, weight: 1 });
  expect(order.at(-1)).toBe('heavy: a4');
  await batcher.add({ of: 'b', number: 1, weight: 1 });
  expect(order.at(-1)).toBe('light: b1');
});

test('items committed one by one do not overtake delayed items of their tenant', async () => {
  const order: string[] = [];
  const batcher = heldUpBatcher(order, (error) => error instanceof TypeError);
  await Promise.all([...items('a', 3), ...items('n', 2)].map((item) => batcher.add(item)));
  await batcher.drain();
  expect(order).toEqual(['light held up: a0', 'light: n0', 'light: n1', 'heavy: a0 a1 a2']);
});
