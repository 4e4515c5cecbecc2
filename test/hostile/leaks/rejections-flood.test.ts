// limits: A hundred thousand rejections that nobody handles.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they are log lines of the run, as many as it may have, and the source works afterwards', async () => {
  await world.limit({ maxLogLinesPerRun: 50, runCpuMs: 3_000 });
  const [flood, after] = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      export default { name: 'Rejections', version: '1', async run(event) {
        if (event.flood) for (let i = 0; i < 1e5; i++) Promise.reject(new Error('lost ' + i));
        await new Promise((resolve) => setTimeout(resolve, 20));
        this.$emit('ended');
      } };`);
    return [await world.run(id, { flood: true }), await world.run(id, {})];
  });
  expect([undefined, 'CPU_LIMIT', 'MEMORY_LIMIT']).toContain(flood?.error?.code);
  // And one line that says that there were more.
  expect(flood?.logs.length).toBeLessThanOrEqual(51);
  expect(after?.error).toBeUndefined();
  expect(after?.events.at(-1)).toBe('ended');
});
