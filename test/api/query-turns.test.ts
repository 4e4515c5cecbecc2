import { expect, test } from 'vitest';
import { createQueryTurns } from '../../api/src/query-turns.ts';
import { LIMITS } from '../../shared/src/index.ts';

/** Queries that end when they are told to. */
function held() {
  const ends: ((text: string | null) => void)[] = [];
  const query = () => new Promise<string | null>((resolve) => void ends.push(resolve));
  return { ends, query };
}

const aWhile = () => new Promise((resolve) => void setTimeout(resolve, 20));

test('two requests of an account run, the third begins when one ends, and other accounts do not wait', async () => {
  const turns = createQueryTurns({ hasOthers: () => false });
  const { ends, query } = held();
  const asked = Array.from({ length: 4 }, () => turns.run('o_1', query));
  await aWhile();
  expect(ends).toHaveLength(LIMITS.maxQueriesPerTenant);
  expect(await turns.run('o_2', async () => 'other')).toBe('other');
  ends[0]?.('first');
  await asked[0];
  await aWhile();
  expect(ends).toHaveLength(LIMITS.maxQueriesPerTenant + 1);
  for (let n = 1; n < 4; n++) {
    ends[n]?.(null);
    await aWhile();
  }
  expect(await Promise.all(asked)).toEqual(['first', null, null, null]);
});

test('requests of many accounts leave connections for events, and each account has its turn', async () => {
  const turns = createQueryTurns({ hasOthers: () => false });
  const { ends, query } = held();
  const asked = Array.from({ length: 20 }, (_, nth) => turns.run(`o_${nth % 4}`, query));
  const other = turns.run('o_9', async () => 'other');
  await aWhile();
  expect(ends).toHaveLength(LIMITS.maxQueries);
  // Behind the turns of those that came before, not behind all that they have asked for.
  for (let n = 0; n < 8; n++) {
    ends[n]?.(null);
    await aWhile();
  }
  expect(await other).toBe('other');
  for (let n = 8; n < asked.length; n++) {
    ends[n]?.(null);
    await aWhile();
  }
  await Promise.all(asked);
});

test('a failed query frees its slot, and one whose slot comes too late is told so', async () => {
  const turns = createQueryTurns({ hasOthers: () => false, maxWaitMs: 50 });
  for (let n = 0; n < 5; n++) {
    await expect(turns.run('o_1', () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  }
  const { query } = held();
  for (let n = 0; n < LIMITS.maxQueriesPerTenant; n++) void turns.run('o_1', query);
  await expect(turns.run('o_1', query)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });
});

test('beside others a large answer keeps its turn for as long as it takes at the pace, alone it does not', async () => {
  const large = 'x'.repeat(LIMITS.smallBatchChars + LIMITS.batchCharsPerSecond / 4);
  const msOf = async (hasOthers: boolean) => {
    const turns = createQueryTurns({ hasOthers: () => hasOthers });
    const startedAtMs = performance.now();
    for (let n = 0; n < 2 * LIMITS.maxQueriesPerTenant; n++) await turns.run('o_1', async () => large);
    return performance.now() - startedAtMs;
  };
  expect(await msOf(true)).toBeGreaterThan(240);
  expect(await msOf(false)).toBeLessThan(240);
});

test('characters read for an unanswered request count too, even if the request fails', async () => {
  const chars = LIMITS.smallBatchChars + LIMITS.batchCharsPerSecond / 10;
  const turns = createQueryTurns({ hasOthers: () => true });
  const startedAtMs = performance.now();
  const asked = Array.from({ length: 4 * LIMITS.maxQueriesPerTenant }, (_, nth) =>
    turns.run('o_1', async (count) => {
      count(chars);
      if (nth % 2 === 0) throw new Error('failed');
      return 'little';
    }),
  );
  await Promise.allSettled(asked);
  expect(performance.now() - startedAtMs).toBeGreaterThan(290);
});

test('beside other tenants a long query is followed by a pause as long, and a short one by none', async () => {
  const msOf = async (tookMs: number, times: number, hasOthers = true) => {
    const turns = createQueryTurns({ hasOthers: () => hasOthers });
    const startedAtMs = performance.now();
    const query = async () => {
      if (tookMs > 0) await new Promise((resolve) => void setTimeout(resolve, tookMs));
      return '';
    };
    await Promise.all(Array.from({ length: times * LIMITS.maxQueriesPerTenant }, () => turns.run('o_1', query)));
    return performance.now() - startedAtMs;
  };
  expect(await msOf(60, 4)).toBeGreaterThan(7 * 60 - 10);
  expect(await msOf(60, 4, false)).toBeLessThan(7 * 60 - 10);
  expect(await msOf(0, 500)).toBeLessThan(500);
});
