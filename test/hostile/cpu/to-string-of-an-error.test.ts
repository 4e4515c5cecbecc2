// limits: A thrown error whose message, name and stack never return.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `const loop = { get() { for (;;); } };
throw Object.defineProperties(new Error('x'), { name: loop, message: loop, stack: loop });`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
