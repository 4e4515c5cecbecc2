import { expect, test } from 'vitest';
import { createLimitsCache } from '../../../engine/src/accounts/limits-cache.ts';
import { type AccountLimits, accountLimits } from '../../../shared/src/index.ts';

/** Reads that the test ends, with a value of the test. */
function heldReads() {
  const reads: { end: (set: Partial<AccountLimits>) => void; fail: (error: Error) => void }[] = [];
  const read = () => new Promise<Partial<AccountLimits>>((end, fail) => reads.push({ end, fail }));
  return { reads, cache: createLimitsCache({ read, defaults: { memoryMb: 64 } }) };
}

test('limits set for an account win over defaults of the node, which win over the built-in defaults', async () => {
  const { reads, cache } = heldReads();
  expect(cache.known('o_1')).toBeUndefined();
  const limits = cache.get('o_1');
  reads[0]?.end({ runCpuMs: 500 });
  expect(await limits).toEqual(accountLimits({ memoryMb: 64, runCpuMs: 500 }));
  expect(cache.known('o_1')).toEqual(await limits);
});

test('callers that ask at the same time share one read', async () => {
  const { reads, cache } = heldReads();
  const ask = async () => cache.get('o_1');
  const both = [ask(), ask()];
  expect(reads).toHaveLength(1);
  reads[0]?.end({});
  expect(await Promise.all(both)).toEqual([cache.defaults, cache.defaults]);
});

test('a read that began before a change does not undo it, in each order of ends', async () => {
  const { reads, cache } = heldReads();
  const first = cache.get('o_1');
  const refreshed = cache.refresh('o_1');
  reads[1]?.end({ runCpuMs: 200 });
  await refreshed;
  reads[0]?.end({ runCpuMs: 100 });
  await first;
  expect(cache.known('o_1')?.runCpuMs).toBe(200);
});

test('a client that changed limits reads the changed ones, also while others refresh them', async () => {
  const { reads, cache } = heldReads();
  const first = cache.get('o_1');
  reads[0]?.end({ runCpuMs: 100 });
  await first;
  const refreshed = cache.refresh('o_1');
  const again = cache.refresh('o_1');
  reads[1]?.end({ runCpuMs: 200 });
  await refreshed;
  expect(cache.known('o_1')?.runCpuMs).toBe(200);
  reads[2]?.end({ runCpuMs: 200 });
  await again;
});

test('the old limits hold until the new ones are read', async () => {
  const { reads, cache } = heldReads();
  const first = cache.get('o_1');
  reads[0]?.end({ runCpuMs: 100 });
  await first;
  const refreshed = cache.refresh('o_1');
  expect(cache.known('o_1')?.runCpuMs).toBe(100);
  reads[1]?.end({ runCpuMs: 200 });
  await refreshed;
  expect(cache.known('o_1')?.runCpuMs).toBe(200);
});

test('each waiting caller gets the error of a failed read, and the next one reads again', async () => {
  const { reads, cache } = heldReads();
  const failing = cache.get('o_1');
  reads[0]?.fail(new Error('no database'));
  await expect(failing).rejects.toThrow('no database');
  const next = cache.get('o_1');
  reads[1]?.end({});
  expect(await next).toBe(cache.defaults);
});
