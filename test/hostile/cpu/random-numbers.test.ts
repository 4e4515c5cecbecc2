// limits: Random numbers in a loop.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of the process around the isolate is counted as the run's", async () => {
  const ran = await attackCpu(world, 'for (;;) crypto.randomUUID();');
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
