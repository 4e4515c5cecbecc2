import { expect, test } from 'vitest';
import { createRecentReads } from '../../../engine/src/fairness/recent-reads.ts';

/** Reads texts of the length that their id says, in its second part; the third is the account. */
function reads(bounds: { maxCount: number; maxWeight?: number }) {
  const asked: string[] = [];
  const cache = createRecentReads<{ text: string; accountId: string }>({
    ...bounds,
    accountOf: ({ accountId }) => accountId,
    weightOf: ({ text }) => text.length,
    async read(id) {
      asked.push(id);
      const [, length = '1', accountId = 'o_a'] = id.split(':');
      return length === '0' ? undefined : { text: 'x'.repeat(Number(length)), accountId };
    },
  });
  return { cache, asked };
}

test('concurrent uses share one read, and the entry used longest ago is evicted first', async () => {
  const { cache, asked } = reads({ maxCount: 2 });
  await Promise.all(['a', 'a', 'b', 'a'].map((id) => cache.get(id)));
  await cache.get('a');
  await cache.get('c');
  await cache.get('a');
  await cache.get('b');
  expect(asked).toEqual(['a', 'b', 'c', 'b']);
});

test('all entries together stay within the weight, and one that is too heavy evicts no entry of others', async () => {
  const { cache, asked } = reads({ maxCount: 100, maxWeight: 10 });
  for (const id of ['a:4', 'b:4', 'c:4', 'b:4', 'c:4', 'a:4']) await cache.get(id);
  expect(asked).toEqual(['a:4', 'b:4', 'c:4', 'a:4']);
  await Promise.all([cache.get('large:50'), cache.get('large:50')]);
  await cache.get('large:50:o_b');
  await cache.get('c:4');
  await cache.get('large:50:o_b');
  await cache.get('c:4');
  expect(asked.slice(4)).toEqual(['large:50', 'large:50:o_b', 'c:4', 'large:50:o_b']);
});

test('an account that reads many entries in a circle evicts no entry of others', async () => {
  for (const bounds of [{ maxCount: 100, maxWeight: 20 }, { maxCount: 5 }]) {
    const { cache, asked } = reads(bounds);
    await cache.get('limitTimeShare:4:o_b');
    for (let i = 0; i < 30; i++) await cache.get(`${i % 10}:4:o_a`);
    await cache.get('limitTimeShare:4:o_b');
    expect(asked.filter((id) => id === 'limitTimeShare:4:o_b')).toHaveLength(1);
  }
});

test('an entry that is forgotten during its read, or missing, weighs nothing', async () => {
  const { cache, asked } = reads({ maxCount: 100, maxWeight: 10 });
  const reading = cache.get('a:9');
  cache.forget('a:9');
  await reading;
  await cache.get('none:0');
  await cache.get('b:9');
  await cache.get('b:9');
  expect(asked).toEqual(['a:9', 'none:0', 'b:9']);
  cache.forgetAll();
  for (const id of ['c:5', 'd:5', 'c:5', 'd:5']) await cache.get(id);
  expect(asked.slice(3)).toEqual(['c:5', 'd:5']);
});
