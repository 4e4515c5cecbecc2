// limits: A loop in a hook, while a source is being deployed.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the deployment is refused, and says why', async () => {
  await world.limit({ runCpuMs: 200 });
  const code = `export default { name: 'Hook', version: '1', hooks: { deploy() { for (;;); } }, run() {} };`;
  const { refused } = await world.unharmed(() => world.attack(code));
  expect(refused).toMatchObject({
    status: 422,
    code: 'hook-failed',
    errors: [{ path: 'hooks.deploy', message: expect.stringContaining('the limit runCpuMs is 200 ms') }],
    limit: { name: 'runCpuMs', value: 200 },
  });
  expect(refused?.limit?.used).toBeGreaterThanOrEqual(200);
});
