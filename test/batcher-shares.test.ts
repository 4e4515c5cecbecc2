import { expect, test } from 'vitest';
import { createBatcher } from '../engine/src/store/batcher.ts';
import { createShares } from '../engine/src/store/shares.ts';

interface Item {
  of: string;
  number: number;
  weight: number;
}

const rules = { tenantOf: (item: Item) => item.of, weightOf: (item: Item) => item.weight, maxWeight: 10 };
const items = (of: string, count: number, weight = 1): Item[] =>
  Array.from({ length: count }, (_, number) => ({ of, number, weight }));
const named = (taken: readonly Item[]): string => taken.map(({ of, number }) => `${of}${number}`).join(' ');

test('a share goes round the tenants and keeps the order of each', () => {
  const shares = createShares<Item>(rules);
  for (const item of [...items('a', 6), ...items('b', 2), ...items('c', 1)]) shares.push(item);
  expect(named(shares.take(5))).toBe('a0 b0 c0 a1 b1');
  expect(named(shares.take(5))).toBe('a2 a3 a4 a5');
  expect(shares.size()).toBe(0);
  expect(shares.take(5)).toEqual([]);
});

test('a share ends before it is too heavy; what is light goes along, and the heaviest goes alone in its turn', () => {
  const shares = createShares<Item>(rules);
  for (const item of [...items('a', 3, 8), ...items('b', 3)]) shares.push(item);
  expect(named(shares.take(9))).toBe('a0 b0 b1');
  expect(named(shares.take(9))).toBe('b2 a1');
  shares.push({ of: 'c', number: 0, weight: 99 });
  expect(named(shares.take(9))).toBe('a2');
  expect(named(shares.take(9))).toBe('c0');
  expect(shares.size()).toBe(0);
});

test('one item of a tenant is committed with the next batch, whatever another tenant has waiting', async () => {
  const batches: string[] = [];
  const batcher = createBatcher<Item, undefined>({
    maxBatch: 4,
    minIntervalMs: 0,
    share: rules,
    commit: async (batch) => {
      batches.push(named(batch));
      return batch.map(() => undefined);
    },
  });
  const flood = items('a', 40).map((item) => batcher.add(item));
  await batcher.add({ of: 'n', number: 0, weight: 1 });
  expect(batches.length).toBeLessThanOrEqual(2);
  expect(batches.join(' ')).toContain('n0');
  await Promise.all(flood);
  expect(
    batches
      .join(' ')
      .split(' ')
      .filter((name) => name.startsWith('a')),
  ).toEqual(Array.from({ length: 40 }, (_, number) => `a${number}`));
});
