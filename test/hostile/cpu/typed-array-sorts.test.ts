// limits: Sorting a million numbers again and again, with a comparison that is never content.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `const numbers = new Float64Array(1e6);
for (;;) numbers.map(() => Math.random()).sort((a, b) => (a < b ? 1 : -1));`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
