// isolate: Array buffers, which live outside of the heap, kept by run after run.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they count against the isolate, which never holds more than its limit', async () => {
  await world.limit({ memoryMb: 32 });
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      const kept = [];
      export default { name: 'Buffers', version: '1', run() {
        kept.push(new Uint8Array(4e6).fill(1));
        this.$emit(kept.length);
      } };`);
    const outcomes = [];
    for (let i = 0; i < 14; i++) outcomes.push(await world.run(id));
    return outcomes;
  });
  // Fourteen of them do not fit. Either the allocation throws in the component, or a new isolate counts from one.
  const failed = runs.flatMap((run) => run.error ?? []);
  for (const error of failed) expect(error.message + error.code).toMatch(/Array buffer allocation failed|MEMORY_LIMIT/);
  const counted = runs.at(-1)?.events as number[];
  expect(Math.max(...counted)).toBeLessThan(14);
  expect(counted.length + failed.length).toBe(14);
});
