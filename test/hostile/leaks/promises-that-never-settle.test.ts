// isolate: A run that returns and leaves a hundred thousand awaited promises behind, again and again.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they are garbage once the run is over', async () => {
  await world.limit({ memoryMb: 64 });
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
      export default { name: 'Unsettled', version: '1', run() {
        for (let i = 0; i < 1e5; i++) void (async () => { const own = [i, i]; await new Promise(() => {}); return own; })();
        this.$emit('left');
      } };`);
    const outcomes = [];
    for (let i = 0; i < 6; i++) outcomes.push(await world.run(id));
    return outcomes;
  });
  // Six of them together would not fit into the isolate.
  expect(runs.map((run) => run.error)).toEqual(Array(6).fill(undefined));
  expect(runs.at(-1)?.events).toEqual(Array(6).fill('left'));
});
