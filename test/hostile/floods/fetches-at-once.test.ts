// limits: Requests without end, all at the same time.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('the first over the limit is refused, inside the isolate', async () => {
  await world.limit({ maxFetchesInFlightPerRun: 4 });
  const ran = await world.unharmed(() =>
    world.attack(`await Promise.all(Array.from({ length: 10000 }, () => fetch('http://attacked.example/')))`),
  );
  expect(ran.error).toBeDefined();
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchesInFlightPerRun', value: 4, used: 5 },
  });
});
