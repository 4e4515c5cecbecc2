// limits: An emitted event whose getter never returns.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(world, 'this.$emit({ get value() { for (;;); } });');
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
