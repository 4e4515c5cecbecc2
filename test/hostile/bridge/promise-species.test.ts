// bridge: Promise.prototype.constructor with a species of its own, so that whoever waits is handed the attacker's promise.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the run ends, and so does the next one in its isolate', async () => {
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(`
export default { name: 'Species', version: '1', async run() {
  const caught = [];
  const Species = function (executor) { executor((value) => caught.push(typeof value), () => {}); };
  Object.defineProperty(Promise, Symbol.species, { configurable: true, get: () => Species });
  await null;
  this.$emit(caught);
} };`);
    return [await world.run(id), await world.run(id)];
  });
  expect(runs.map(({ error }) => error)).toEqual([undefined, undefined]);
  expect(runs[1]?.events).toEqual([[], []]);
});
