// isolate: Array buffers, which live outside of the heap, kept by run after run.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const MEMORY_MB = 32;
const BUFFER_BYTES = 4_000_000;
const FIT = Math.floor((MEMORY_MB * 2 ** 20) / BUFFER_BYTES);
const RUNS = 14;

it('they count against the isolate, which never holds more than its limit', async () => {
  await world.limit({ memoryMb: MEMORY_MB });
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      const kept = [];
      export default { name: 'Buffers', version: '1', run() {
        kept.push(new Uint8Array(${BUFFER_BYTES}).fill(1));
        this.$emit(kept.length);
      } };`);
    const outcomes = [];
    for (let i = 0; i < RUNS; i++) outcomes.push(await world.run(id));
    return outcomes;
  });
  // Those there is room for are made; the next one throws in its run, and the one after it has an
  // isolate of its own.
  const failed = runs.flatMap((run) => run.error ?? []);
  const limit = { name: 'memoryMb', value: MEMORY_MB, used: expect.any(Number) };
  expect(failed).toMatchObject(failed.map(() => ({ code: 'MEMORY_LIMIT', limit })));
  expect(runs.slice(0, FIT).map((run) => run.error)).toEqual(Array(FIT).fill(undefined));
  expect(failed).toHaveLength(1);
  const counted = runs.at(-1)?.events as number[];
  expect(Math.max(...counted)).toBeLessThanOrEqual(FIT);
  expect(counted.length + failed.length).toBe(RUNS);
  expect(counted.slice(-(RUNS - FIT - 1))).toEqual(Array.from({ length: RUNS - FIT - 1 }, (_, i) => i + 1));
});
