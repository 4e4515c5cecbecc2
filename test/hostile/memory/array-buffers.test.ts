// isolate: Array buffers, whose bytes are outside of the heap.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('a buffer there is no room for is the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const kept = [];
for (;;) kept.push(new ArrayBuffer(5e6));`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
