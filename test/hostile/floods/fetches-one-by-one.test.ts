// limits: Requests without end, one after the other, to an address that is refused.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the run ends at its limit of requests', async () => {
  await world.limit({ maxFetchesPerRun: 20 });
  const ran = await world.unharmed(() =>
    world.attack(`for (;;) await fetch('http://10.0.0.1/').catch((error) => { if (error.limit) throw error })`),
  );
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxFetchesPerRun', value: 20, used: 21 } });
});
