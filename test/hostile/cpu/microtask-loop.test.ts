// limits: Promises that settle each other, so that the isolate is never left.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `const again = () => Promise.resolve().then(again);
await again();`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
