// process: A Set of objects that grows without end.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const set = new Set();
for (;;) set.add({ text: 'x'.repeat(100) });`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
