// isolate: A chain of objects without end.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `let last = null;
for (let i = 0; ; i++) last = { last, i };`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
