// limits: PBKDF2 in a loop: the work is done by the process around the isolate.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of that process is counted as the run's", async () => {
  const ran = await attackCpu(
    world,
    `const { pbkdf2Sync } = process.getBuiltinModule('crypto');
for (;;) pbkdf2Sync('password', 'salt', 500_000, 32, 'sha512');`,
  );
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
