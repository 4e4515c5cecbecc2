// limits: A generator without end, spread into a set.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(world, 'new Set((function* () { for (;;) yield 1; })());');
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
