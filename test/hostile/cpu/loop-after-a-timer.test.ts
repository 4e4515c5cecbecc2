// limits: A loop after the first await, where a timeout of the first call no longer counts.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `await new Promise((resolve) => setTimeout(resolve, 5));
for (;;);`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
