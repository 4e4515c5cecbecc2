// process: A Map that grows without end: V8 gives up on the whole process at its largest table.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const map = new Map();
for (let i = 0; ; i++) map.set(i, i);`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
