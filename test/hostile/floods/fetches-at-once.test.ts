// limits: Requests without end, all at the same time.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('wait for each other, and the first over what a run may make is refused, inside the isolate', async () => {
  await world.limit({ maxFetchesInFlightPerRun: 4, maxFetchesPerRun: 100 });
  const ran = await world.unharmed(() =>
    world.attack(`await Promise.all(Array.from({ length: 10000 }, () => fetch('http://attacked.example/')))`),
  );
  expect(ran.error).toBeDefined();
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchesPerRun', value: 100, used: 101 },
  });
});
