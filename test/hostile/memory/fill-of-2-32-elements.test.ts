// process: Array.prototype.fill over 2^32 elements: one builtin that neither ends nor hears that it is to end.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(world, 'new Array(2 ** 32 - 1).fill(7);');
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
