import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { createBatcher } from '../../../engine/src/db/batcher.ts';
import { createHeavyTurns } from '../../../engine/src/db/heavy-turns.ts';
import { createShares, type ShareKind, type Shares } from '../../../engine/src/db/shares.ts';
import { eventually } from '../../support/eventually.ts';

interface Item {
  of: string;
  number: number;
  weight: number;
}

const rules = { tenantOf: (item: Item) => item.of, weightOf: (item: Item) => item.weight, maxWeight: 10 };
const items = (of: string, count: number, weight = 1): Item[] =>
  Array.from({ length: count }, (_, number) => ({ of, number, weight }));
const take = (shares: Shares<Item>, maxItems: number, kind: ShareKind = 'light'): Item[] => {
  const { items: taken, end } = shares.take(kind, maxItems);
  end();
  return taken;
};
const named = (taken: readonly Item[]): string => taken.map(({ of, number }) => `${of}${number}`).join(' ');

test('a share goes round the tenants and keeps the order of each', () => {
  const shares = createShares<Item>(rules);
  for (const item of [...items('a', 6), ...items('b', 2), ...items('c', 1)]) shares.push(item);
  expect(named(take(shares, 5))).toBe('a0 b0 c0 a1 b1');
  expect(named(take(shares, 5))).toBe('a2 a3 a4 a5');
  expect(shares.size()).toBe(0);
  expect(take(shares, 5)).toEqual([]);
});

test('a share ends before it is too heavy: light items go along, and the heaviest goes alone in its turn', () => {
  const shares = createShares<Item>(rules);
  for (const item of [...items('a', 3, 8), ...items('b', 3)]) shares.push(item);
  expect(named(take(shares, 9))).toBe('a0 b0 b1');
  expect(named(take(shares, 9))).toBe('b2 a1');
  shares.push({ of: 'c', number: 0, weight: 99 });
  expect(named(take(shares, 9))).toBe('a2');
  expect(named(take(shares, 9))).toBe('c0');
  expect(shares.size()).toBe(0);
});

test('one item of a tenant is committed with the next batch, beside any backlog of another tenant', async () => {
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

test('items of a heavy tenant are committed beside the batches of others, a bounded part at a time', () => {
  let nowMs = 0;
  const shares = createShares<Item>({ ...rules, maxTenantWeight: 4, nowMs: () => nowMs });
  for (const item of [...items('a', 9), ...items('n', 2)]) shares.push(item);
  expect([shares.count('light'), shares.count('heavy')]).toEqual([2, 9]);
  const heavy = shares.take('heavy', 9);
  expect(named(heavy.items)).toBe('a0 a1 a2 a3');
  expect(named(take(shares, 9))).toBe('n0 n1');
  // The order of one tenant is that of its commits: nothing more of it until this one is over.
  expect([shares.count('light'), shares.count('heavy'), shares.size()]).toEqual([0, 0, 5]);
  heavy.end();
  expect(named(take(shares, 9, 'heavy'))).toBe('a4 a5 a6 a7');
  nowMs += LIMITS.othersPresentMs + 1;
  for (const item of items('a', 9)) shares.push(item);
  expect(shares.givesWay()).toBe(false);
  expect(named(take(shares, 20, 'heavy'))).toBe('a8 a0 a1 a2 a3 a4 a5 a6 a7 a8');
  shares.push({ of: 'a', number: 9, weight: 3 });
  shares.push({ of: 'n', number: 2, weight: 1 });
  expect([shares.count('heavy'), shares.givesWay()]).toEqual([1, true]);
});

test('other tenants do not wait for the commit of a heavy tenant', async () => {
  const { promise: slow, resolve: goOn } = Promise.withResolvers<void>();
  const order: string[] = [];
  const batcher = createBatcher<Item, undefined>({
    maxBatch: 4,
    minIntervalMs: 0,
    share: { ...rules, maxTenantWeight: 4 },
    async commit(batch) {
      order.push(named(batch));
      if (batch.length > 2) await slow;
      return batch.map(() => undefined);
    },
  });
  await Promise.all([...items('n', 1), ...items('a', 1)].map((item) => batcher.add(item)));
  const flood = items('a', 12).map((item) => batcher.add(item));
  for (const item of items('n', 3)) await batcher.add(item);
  expect(order.filter((names) => names.includes('a'))).toHaveLength(2);
  expect(order.filter((names) => names.startsWith('n'))).toHaveLength(4);
  goOn();
  await Promise.all(flood);
  await batcher.drain();
  expect(batcher.size()).toBe(0);
});

test('other tenants do not wait for an unbounded commit that began while its tenant was alone', async () => {
  const slow = Promise.withResolvers<void>();
  const order: string[] = [];
  const batcher = createBatcher<Item, undefined>({
    maxBatch: 20,
    minIntervalMs: 0,
    share: { ...rules, maxTenantWeight: 4 },
    async commit(batch) {
      order.push(named(batch));
      if (batch[0]?.of === 'a') await slow.promise;
      return batch.map(() => undefined);
    },
  });
  const flood = items('a', 9).map((item) => batcher.add(item));
  await eventually(() => order.length === 1);
  try {
    const served = batcher.add({ of: 'n', number: 0, weight: 1 }).then(() => 'served');
    expect(await Promise.race([served, sleep(500, 'kept waiting')])).toBe('served');
    expect(order).toEqual(['a0 a1 a2 a3 a4 a5 a6 a7 a8', 'n0']);
  } finally {
    slow.resolve();
    await Promise.all(flood);
    await batcher.drain();
  }
});

test('a single tenant is not paced', async () => {
  const batcher = createBatcher<Item, undefined>({
    maxBatch: 4,
    minIntervalMs: 0,
    // A second's worth.
    share: { ...rules, maxTenantWeight: 2, charsOf: () => LIMITS.smallBatchChars + LIMITS.batchCharsPerSecond },
    async commit(batch) {
      return batch.map(() => undefined);
    },
  });
  const begunMs = performance.now();
  // Each too heavy to go with another.
  await Promise.all(items('a', 4, 6).map((item) => batcher.add(item)));
  // At the pace it would be five seconds.
  expect(performance.now() - begunMs).toBeLessThan(4_500);
});

test('the next batch of a tenant with much text waits, and batches of other heavy tenants do not', async () => {
  const atMs = new Map<string, number>();
  const batcher = createBatcher<Item, undefined>({
    maxBatch: 4,
    minIntervalMs: 0,
    // Half a second's worth.
    share: { ...rules, maxTenantWeight: 2, charsOf: () => LIMITS.smallBatchChars + LIMITS.batchCharsPerSecond / 2 },
    async commit(batch) {
      for (const item of batch) atMs.set(named([item]), performance.now());
      return batch.map(() => undefined);
    },
  });
  await Promise.all(items('n', 1).map((item) => batcher.add(item)));
  const [first, second] = items('a', 2, 2).map((item) => batcher.add(item));
  await first;
  await Promise.all(items('b', 1, 2).map((item) => batcher.add(item)));
  await second;
  const [a0 = 0, a1 = 0, b0 = 0] = ['a0', 'a1', 'b0'].map((name) => atMs.get(name));
  expect(a1 - a0).toBeGreaterThan(490);
  expect(b0).toBeLessThan(a1);
  // A drain does not wait for the pace.
  await batcher.add({ of: 'n', number: 1, weight: 1 });
  const left = items('a', 4, 2).map((item) => batcher.add(item));
  const begunMs = performance.now();
  await batcher.drain();
  await Promise.all(left);
  // At the pace it would be two seconds.
  expect(performance.now() - begunMs).toBeLessThan(1_450);
});

test('batchers that share their turns commit one heavy batch at a time, and light batches wait for neither', async () => {
  const heavyTurns = createHeavyTurns();
  let heavyAtOnce = 0;
  let mostAtOnce = 0;
  const startedAt: string[] = [];
  const batcherOf = (name: string) =>
    createBatcher<Item, undefined>({
      maxBatch: 4,
      minIntervalMs: 0,
      share: { ...rules, maxTenantWeight: 2, heavyTurns },
      async commit(batch) {
        startedAt.push(`${name}:${named(batch)}`);
        if (batch[0]?.of === 'n') return batch.map(() => undefined);
        mostAtOnce = Math.max(mostAtOnce, ++heavyAtOnce);
        await sleep(50);
        heavyAtOnce--;
        return batch.map(() => undefined);
      },
    });
  const batchers = [batcherOf('one'), batcherOf('two')];
  for (const batcher of batchers) await Promise.all([...items('n', 1)].map((item) => batcher.add(item)));
  const floods = batchers.flatMap((batcher) => items('a', 3, 2).map((item) => batcher.add(item)));
  await sleep(20);
  await Promise.all(batchers.map((batcher) => batcher.add({ of: 'n', number: 1, weight: 1 })));
  expect(startedAt.filter((name) => name.includes('a'))).toHaveLength(1);
  await Promise.all(floods);
  await Promise.all(batchers.map((batcher) => batcher.drain()));
  expect(mostAtOnce).toBe(1);
  expect(startedAt.filter((name) => name.includes('a'))).toHaveLength(6);
});
