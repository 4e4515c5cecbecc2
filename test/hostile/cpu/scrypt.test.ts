// limits: scrypt in a loop: the work is done by the process around the isolate.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of that process is counted as the run's", async () => {
  const ran = await attackCpu(
    world,
    `const { scryptSync } = process.getBuiltinModule('crypto');
for (;;) scryptSync('password', 'salt', 64, { N: 16384, r: 8, p: 1 });`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
