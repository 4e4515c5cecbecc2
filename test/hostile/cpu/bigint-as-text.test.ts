// process: A BigInt of 300 million bits, as decimal text, in one builtin that cannot be interrupted.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(world, '(1n << 300000000n).toString();');
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
