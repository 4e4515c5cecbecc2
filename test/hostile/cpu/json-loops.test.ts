// limits: Parsing and writing JSON again and again.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `const text = JSON.stringify(Array.from({ length: 1e5 }, (_, index) => ({ index })));
for (;;) JSON.stringify(JSON.parse(text));`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
