// isolate: An error whose message is a quarter of a gigabyte.
import { expect, it } from 'vitest';
import { attackMemory, MEMORY_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory', async () => {
  const ran = await attackMemory(
    world,
    `throw new Error(\`\${'x'.repeat(2 ** 28)}\${Math.random()}\`.replaceAll('x', 'yz'));`,
  );
  expect(ran.error).toMatchObject(MEMORY_LIMIT);
});
