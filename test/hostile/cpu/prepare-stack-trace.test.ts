// limits: A loop in Error.prepareStackTrace, which is called when the platform reads the stack.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time', async () => {
  const ran = await attackCpu(
    world,
    `Error.prepareStackTrace = () => { for (;;); };
null.x;`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
