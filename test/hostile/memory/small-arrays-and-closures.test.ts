// process: Small arrays held by closures, in a loop that goes on after V8 has ended its isolate, a gigabyte a second.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const kept = [];
for (;;) {
  const big = new Array(1000).fill(1.1);
  kept.push(() => big);
}`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
