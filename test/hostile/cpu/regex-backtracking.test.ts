// limits: A regular expression that backtracks for hours, on 40 characters of input.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(world, `/^(a+)+$/.test('a'.repeat(40) + 'b');`);
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
