import { expect, test } from 'vitest';
import { createEstimates } from '../../../engine/src/runs/estimates.ts';

/** Estimates whose count ends on command, with the content of `stored` at that time. */
function slowlyCounted() {
  const stored = new Map<string, number>();
  let counts = Promise.withResolvers<void>();
  const estimates = createEstimates({
    read: async () => {
      await counts.promise;
      return new Map(stored);
    },
    nothing: 0,
    sum: (a, b) => a + b,
  });
  return {
    estimates,
    add(amount: number) {
      stored.set('a', (stored.get('a') ?? 0) + amount);
      estimates.add('a', amount);
    },
    async refresh(meanwhile: () => void, error?: Error) {
      counts = Promise.withResolvers();
      const refreshed = estimates.refresh();
      meanwhile();
      if (error) counts.reject(error);
      else counts.resolve();
      await refreshed;
    },
  };
}

test('an addition is not forgotten while the count runs', async () => {
  const { estimates, add, refresh } = slowlyCounted();
  add(3);
  const during: number[] = [];
  await refresh(() => during.push(estimates.of('a')));
  expect([...during, estimates.of('a')]).toEqual([3, 3]);
});

test('nor where the count fails, and the next one has all of it once', async () => {
  const { estimates, add, refresh } = slowlyCounted();
  add(3);
  await expect(refresh(() => add(4), new Error('away'))).rejects.toThrow('away');
  expect(estimates.of('a')).toBe(7);
  await refresh(() => undefined);
  expect(estimates.of('a')).toBe(7);
});

test('an addition while the count runs counts twice rather than never', async () => {
  const { estimates, add, refresh } = slowlyCounted();
  add(3);
  await refresh(() => add(4));
  expect(estimates.of('a')).toBe(11);
  await refresh(() => undefined);
  expect(estimates.of('a')).toBe(7);
});
