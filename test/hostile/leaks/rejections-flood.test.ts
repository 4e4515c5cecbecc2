// limits: A hundred thousand rejections that nobody handles.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the first ends the run as its error, and the source works afterwards', async () => {
  await world.limit({ maxLogLinesPerRun: 50, memoryMb: 256, runCpuMs: 60_000 });
  const [atOnce, inTurns, after] = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      export default { name: 'Rejections', version: '1', async run({ turns, each }) {
        for (let turn = 0; turn < turns; turn++) {
          for (let i = 0; i < each; i++) Promise.reject(new Error('lost ' + i));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        this.$emit('ended');
      } };`);
    const events = [{ turns: 1, each: 100_000 }, { turns: 100, each: 1_000 }, {}];
    const runs = [];
    for (const event of events) runs.push(await world.run(id, event, 60_000));
    return runs;
  });
  const error = {
    code: 'COMPONENT_ERROR',
    message: expect.stringMatching(/^Unhandled rejection: lost \d+$/) as string,
  };
  expect([atOnce?.error, inTurns?.error]).toMatchObject([error, error]);
  expect(after?.error).toBeUndefined();
  expect(after?.logs).toEqual([]);
  expect(after?.events).toEqual(['ended']);
});
