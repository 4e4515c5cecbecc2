// limits: A loop at the top level of a component: it is loaded to be described when it is saved.
import { expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the component is refused, and says why', async () => {
  const { refused } = await world.unharmed(() =>
    world.attack(`for (;;);
export default { name: 'Loop', version: '1', run() {} };`),
  );
  expect(refused).toMatchObject({ status: 400, code: 'invalid-component' });
  // On a busy machine the time is over before that much of it was the component's.
  const name = refused?.limit?.name === 'describeWallMs' ? 'describeWallMs' : 'describeCpuMs';
  expect(refused?.limit).toEqual({ name, value: LIMITS[name], used: expect.any(Number) });
  expect(refused?.limit?.used).toBeGreaterThanOrEqual(LIMITS[name]);
  expect(refused?.detail).toContain(`the limit ${name} is`);
});
