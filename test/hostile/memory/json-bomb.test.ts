// isolate: Text of some megabytes that is a hundred as objects.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(world, `JSON.parse('[' + '{"a":[]},'.repeat(1.5e6) + '1]');`);
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
