// bridge: A component whose members answer something else each time they are read.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

/** A component whose members return these values in turn, and then the last one again. */
const changing = (run: string, methods: string, hooks: string) => `
const changing = (...values) => {
  let reads = 0;
  return { get: () => values[Math.min(reads++, values.length - 1)], enumerable: true, configurable: true };
};
const component = { name: 'Changes', version: '1', props: { db: '$.service.db' } };
Object.defineProperty(component, 'run', changing(${run}));
Object.defineProperty(component, 'methods', changing(${methods}));
Object.defineProperty(component, 'hooks', changing(${hooks}));
export default component;`;

const RUN = `function () { this.$emit(typeof this.own); }`;

it('is judged by what was read first, and runs as that', async () => {
  const code = changing(`${RUN}, 'text', null`, '{ own() {} }, null, 5', `{ deploy() {} }, { deploy: 5 }, 'x'`);
  const ran = await world.unharmed(() => world.attack(code));
  expect(ran).toMatchObject({ events: ['function'] });
  expect([ran.refused, ran.error]).toEqual([undefined, undefined]);
});

it.each([
  ['run', changing(`'text', ${RUN}`, '{}', '{}'), 'run must be a method, not a string'],
  ['hooks', changing(RUN, '{}', `'x', {}`), 'hooks must be an object of methods'],
  ['hooks.deploy', changing(RUN, '{}', '{ deploy: 5 }, { deploy() {} }'), 'must be a method'],
])('is refused for %s that was none when it was read first', async (path, code, message) => {
  const { refused } = await world.unharmed(() => world.attack(code));
  expect(refused).toMatchObject({ status: 400, code: 'invalid-component', errors: [{ path, message }] });
});
