// isolate: Source text of 40 megabytes, given to the constructor of functions.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends as an error or at a limit', async () => {
  await world.limit({ memoryMb: 32, runCpuMs: 500 });
  const ran = await world.unharmed(() => world.attack(`new Function('[' + '[1],'.repeat(1e7) + ']')();`));
  expect(ran.error?.code).toMatch(/^(MEMORY_LIMIT|CPU_LIMIT|COMPONENT_ERROR)$/);
});
