// bridge: Listeners that earlier runs left in the warm isolate, and that put out something in the name of their run when a later one calls them.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('what an ended run puts out goes nowhere', async () => {
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      const target = new EventTarget();
      let count = 0;
      export default { name: 'Listeners', version: '1', props: { db: '$.service.db' }, run() {
        const own = ++count;
        target.addEventListener('wake', () => { try { this.$emit('of ' + own); this.db.set('of', own) } catch {} });
        target.dispatchEvent(new Event('wake'));
      } };`);
    const outcomes = [];
    for (let i = 0; i < 4; i++) outcomes.push(await world.run(id));
    return outcomes;
  });
  expect(runs.map((run) => run.error)).toEqual(Array(4).fill(undefined));
  expect(runs.at(-1)?.events).toEqual(['of 1', 'of 2', 'of 3', 'of 4']);
});
