// process: Array.prototype.fill on an object that says it has 2^53 elements.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(world, 'Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 1);');
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
