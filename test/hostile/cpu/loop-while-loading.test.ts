// limits: A loop at the top level of a component: it is loaded to be described when it is saved.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the component is refused, and says why', async () => {
  const { refused } = await world.unharmed(() =>
    world.attack(`for (;;);
export default { name: 'Loop', version: '1', run() {} };`),
  );
  expect(refused).toMatchObject({ status: 400 });
  expect(refused?.limit?.name).toMatch(/^describe(Cpu|Wall)Ms$/);
  expect(refused?.detail).toContain(refused?.limit?.name);
});
