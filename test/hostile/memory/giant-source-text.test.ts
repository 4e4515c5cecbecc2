// isolate: Source text of 40 megabytes, given to the constructor of functions.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is not read at all: no code is made of text', async () => {
  await world.limit({ memoryMb: 32, runCpuMs: 500 });
  const ran = await world.unharmed(() => world.attack(`new Function('[' + '[1],'.repeat(1e7) + ']')();`));
  // Neither of the two limits was met.
  expect(ran.error).toMatchObject({
    code: 'COMPONENT_ERROR',
    message: 'EvalError: Code generation from strings disallowed for this context',
    limit: null,
  });
});
