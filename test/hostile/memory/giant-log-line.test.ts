// isolate: A log line of a quarter of a gigabyte.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(world, `for (;;) console.log('%s %j', 'x'.repeat(2 ** 28), ['y'.repeat(2 ** 28)]);`);
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
