// bridge: A component whose members answer something else each time they are read.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is judged by what was read once, and runs or fails as that', async () => {
  const ran = await world.unharmed(() =>
    world.attack(`
let reads = 0;
const changing = (values) => ({ get: () => values[reads++ % values.length], enumerable: true, configurable: true });
const component = { name: 'Changes', version: '1', props: { db: '$.service.db' } };
Object.defineProperty(component, 'run', changing([function () { this.$emit('ran'); }, 'text', null]));
Object.defineProperty(component, 'methods', changing([{ $emit() {} }, null, 5]));
Object.defineProperty(component, 'hooks', changing([null, { deploy: 5 }, 'x']));
export default component;`),
  );
  const told = ran.refused?.code ?? ran.error?.code ?? 'ran';
  expect(['ran', 'invalid-component', 'COMPONENT_ERROR']).toContain(told);
});
