// limits: Making RSA keys in a loop.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of the process around the isolate is counted as the run's", async () => {
  const ran = await attackCpu(
    world,
    `const { generateKeyPairSync } = process.getBuiltinModule('crypto');
for (;;) generateKeyPairSync('rsa', { modulusLength: 2048 });`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
