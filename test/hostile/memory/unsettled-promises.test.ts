// isolate: Promises that are awaited and never settle.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `const never = new Promise(() => {});
for (;;) void (async () => { const own = new Array(100).fill(1.5); await never; return own; })();`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
