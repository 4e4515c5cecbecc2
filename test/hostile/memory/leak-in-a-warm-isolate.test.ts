// isolate: Memory that stays behind after every run, in the isolate that the next one is given.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
/** Each keeps six megabytes. */
const RUNS = 8;

it('runs go on in a new isolate once it is full, and none of them fails', async () => {
  await world.limit({ memoryMb: 32 });
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      const kept = [];
      export default { name: 'Leak', version: '1', run() {
        kept.push(Array.from({ length: 700_000 }, (_, i) => i + 0.5));
        this.$emit(kept.length);
      } };`);
    const outcomes = [];
    for (let i = 0; i < RUNS; i++) outcomes.push(await world.run(id));
    return outcomes;
  });
  expect(runs.map((run) => run.error)).toEqual(Array(RUNS).fill(undefined));
  // All of them do not fit into one isolate: a new one counts from one.
  const counted = runs.at(-1)?.events as number[];
  expect(counted).toHaveLength(RUNS);
  expect(Math.max(...counted)).toBeLessThan(RUNS);
});
