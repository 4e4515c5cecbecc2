// fairness: A component of a third of a megabyte whose every run throws: each time the node looks up where, in its source map.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('each error has its place, and the neighbour is served meanwhile', async () => {
  const code = `export default { name: 'Large', version: '1', run() { ${'later(1);'.repeat(30_000)} } };
function later() { throw new Error('here'); }`;
  const runs = await world.unharmed(async () => {
    const { id } = await world.attacker.deploy(code);
    return Promise.all(Array.from({ length: 5 }, () => world.run(id)));
  });
  for (const { error } of runs) {
    expect(error).toMatchObject({ code: 'COMPONENT_ERROR', message: 'here' });
    expect(error?.stack).toContain('at later (component.mjs:2:');
  }
});
