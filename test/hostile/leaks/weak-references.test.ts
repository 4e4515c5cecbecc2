// isolate: Weak references made without end, each of which keeps its target until the current task is done.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const registry = new FinalizationRegistry(() => {});
for (let i = 0; ; i++) {
  const target = { data: new Array(50).fill(i) };
  registry.register(target, i);
  new WeakRef(target).deref();
}`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
