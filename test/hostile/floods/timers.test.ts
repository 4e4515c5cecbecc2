// limits: Timers without end.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the run ends at its limit of open timers', async () => {
  await world.limit({ maxTimersPerRun: 100 });
  const ran = await world.unharmed(() => world.attack(`for (;;) setTimeout(() => {}, 60000)`));
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxTimersPerRun', value: 100, used: 101 },
  });
});
