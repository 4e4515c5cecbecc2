// limits: Products of BigInts that grow for as long as they are let.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `let product = 3n;
for (;;) product = product.toString().length > 1e5 ? 3n : product * product;`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
