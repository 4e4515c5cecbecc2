// isolate: A chain of objects without end.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_OR_CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory, or at that of the time spent on collecting garbage', async () => {
  const ran = await attackMemory(
    world,
    `let last = null;
for (let i = 0; ; i++) last = { last, i };`,
  );
  expect(ran.error).toMatchObject(MEMORY_OR_CPU_LIMIT);
});
