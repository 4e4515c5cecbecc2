// isolate: ArrayBuffer.prototype.transfer to more than the isolate may have.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('a buffer there is no room for is the limit of memory', async () => {
  const ran = await attackMemory(world, 'new ArrayBuffer(8).transfer(300e6);');
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
