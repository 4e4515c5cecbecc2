// isolate: A WeakMap whose keys are all kept.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_OR_CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory, or at that of the time spent on collecting garbage', async () => {
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
  expect(ran.error).toMatchObject(MEMORY_OR_CPU_LIMIT);
});
