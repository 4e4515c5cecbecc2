// limits: A million timers, each refusal of which is caught, left open by run after run.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('each run gets what it may have open, whatever earlier ones left', async () => {
  await world.limit({ maxTimersPerRun: 500, runCpuMs: 5_000 });
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      export default { name: 'Timers', version: '1', run() {
        let opened = 0; let name = '';
        for (let i = 0; i < 1e6 && name === ''; i++) {
          try { setTimeout(() => this.$emit('late'), 1); opened += 1 } catch (error) { name = error.name }
        }
        for (let i = 0; i < 500; i++) try { setInterval(() => this.$emit('late'), 1) } catch {}
        this.$emit([opened, name]);
      } };`);
    return [await world.run(id), await world.run(id), await world.run(id)];
  });
  expect(runs.map((run) => run.error)).toEqual([undefined, undefined, undefined]);
  // Timers of an ended run never fire.
  expect(runs.at(-1)?.events).toEqual(Array.from({ length: 3 }, () => [500, 'LimitError']));
});
