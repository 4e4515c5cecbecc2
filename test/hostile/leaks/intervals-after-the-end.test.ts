// process: An interval, an endless chain of timers and one of promises that are to live on after the run.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they end with the run, and a later one does not find them at work', async () => {
  const later = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      let ticks = 0;
      export default { name: 'Zombie', version: '1', async run(event) {
        if (event.arm) {
          setInterval(() => { ticks += 1 }, 1).unref();
          (function again() { ticks += 1; setTimeout(again, 1).unref() })();
          return;
        }
        const before = ticks;
        await new Promise((resolve) => setTimeout(resolve, 200));
        this.$emit(ticks - before);
      } };`);
    await world.run(id, { arm: true });
    return world.run(id, {});
  });
  expect(later.error).toBeUndefined();
  expect(later.events).toEqual([0]);
});
