// isolate: Copies of a large object, made by structuredClone and kept.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const original = { rows: Array.from({ length: 2e4 }, (_, i) => ({ i })) };
const kept = [];
for (;;) kept.push(structuredClone(original));`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
