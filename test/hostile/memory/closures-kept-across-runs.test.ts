// isolate: Closures over large buffers and arrays, which each run keeps for the next ones.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const MEMORY_MB = 32;
const KEPT_BYTES = 4_000_000;
const FIT = (MEMORY_MB * 2 ** 20) / KEPT_BYTES;
const RUNS = 20;

/** Emits the number of closures in the isolate, after each has returned its content. */
const keeping = (made: string) => `
const kept = [];
export default { name: 'Closures', version: '1', run() {
  const large = ${made};
  kept.push(() => large);
  for (const closure of kept) if (closure()[0] !== 1.5) throw new Error('Lost');
  this.$emit(kept.length);
} };`;

async function runAgainAndAgain(code: string) {
  await world.limit({ memoryMb: MEMORY_MB });
  return world.unharmed(async () => {
    const { id } = await world.attacker.deploy(code);
    const outcomes = [];
    for (let i = 0; i < RUNS; i++) outcomes.push(await world.run(id));
    return outcomes;
  });
}

it('over arrays, in the heap: runs go on in a new isolate once it is full, and none of them fails', async () => {
  const runs = await runAgainAndAgain(keeping(`new Array(${KEPT_BYTES / 8}).fill(1.5)`));
  expect(runs.map((run) => run.error)).toEqual(Array(RUNS).fill(undefined));
  const counted = runs.at(-1)?.events as number[];
  expect(counted).toHaveLength(RUNS);
  // A new isolate counts from one. A heap is looked at between runs: it may be larger for one of
  // them.
  expect(Math.max(...counted)).toBeGreaterThan(1);
  expect(Math.max(...counted)).toBeLessThan(1.5 * FIT);
});

it('over buffers, beside the heap: no more than fit are made, and runs without room for one end at the limit', async () => {
  const runs = await runAgainAndAgain(keeping(`new Float64Array(${KEPT_BYTES / 8}).fill(1.5)`));
  const failed = runs.flatMap((run) => run.error ?? []);
  const limit = { name: 'memoryMb', value: MEMORY_MB, used: expect.any(Number) };
  expect(failed).toMatchObject(failed.map(() => ({ code: 'MEMORY_LIMIT', limit })));
  expect(failed.length).toBeGreaterThan(0);
  const counted = runs.at(-1)?.events as number[];
  expect(counted.slice(0, Math.floor(FIT))).toEqual(Array.from({ length: Math.floor(FIT) }, (_, index) => index + 1));
  expect(Math.max(...counted)).toBeLessThanOrEqual(FIT);
  expect(counted.length + failed.length).toBe(RUNS);
});
