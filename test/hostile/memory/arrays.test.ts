// isolate: Arrays of numbers, filled and kept.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const kept = [];
for (;;) kept.push(new Array(10_000).fill(1.5));`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
