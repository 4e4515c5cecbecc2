import { fc } from '../../support/properties.ts';
import { expect, it } from 'vitest';
import { createFairQueue } from '../../../shared/src/index.ts';

it('a tenant with a thousand waiting items delays another tenant by one item', () => {
  const queue = createFairQueue<string>();
  for (let i = 0; i < 1_000; i++) queue.push('busy', `lane-${i % 10}`, `busy-${i}`);
  queue.push('quiet', 'lane', 'quiet');
  const first = [queue.next(() => true), queue.next(() => true)];
  expect(first).toContain('quiet');
});

it('keeps the order within a lane and loses nothing', () => {
  const push = fc.record({ tenant: fc.constantFrom('a', 'b'), lane: fc.constantFrom('x', 'y', 'z') });
  fc.assert(
    fc.property(fc.array(push), (pushes) => {
      const queue = createFairQueue<{ key: string; i: number }>();
      pushes.forEach(({ tenant, lane }, i) => queue.push(tenant, lane, { key: `${tenant}${lane}`, i }));
      const taken: { key: string; i: number }[] = [];
      for (let item = queue.next(() => true); item !== undefined; item = queue.next(() => true)) taken.push(item);
      expect(taken).toHaveLength(pushes.length);
      for (const items of Map.groupBy(taken, ({ key }) => key).values()) {
        expect(items.map(({ i }) => i)).toEqual(items.map(({ i }) => i).toSorted((a, b) => a - b));
      }
      expect(queue.size()).toBe(0);
    }),
  );
});

it('passes over lanes that may not run now', () => {
  const queue = createFairQueue<string>();
  queue.push('a', 'full', '1');
  queue.push('a', 'free', '2');
  const mayRun = (_: string, lane: string) => lane !== 'full';
  expect(queue.next(mayRun)).toBe('2');
  expect(queue.next(mayRun)).toBeUndefined();
  expect(queue.clear()).toEqual(['1']);
});
