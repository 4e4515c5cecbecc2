// isolate: A WeakMap whose keys are all kept.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const map = new WeakMap();
const keys = [];
for (;;) {
  const key = {};
  keys.push(key);
  map.set(key, new Array(100).fill(1.1));
}`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
