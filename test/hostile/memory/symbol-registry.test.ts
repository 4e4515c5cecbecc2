// isolate: Symbols of the registry, which nothing ever frees.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(world, `for (let i = 0; ; i++) Symbol.for(\`\${i}\${'x'.repeat(1000)}\`);`);
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
