// limits: URLs of 100 000 characters, parsed again and again by the process around the isolate.
import { expect, it } from 'vitest';
import { attackCpu, CPU_LIMIT } from '../../support/hostile-guest.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it("the time of that process is counted as the run's", async () => {
  const ran = await attackCpu(world, `for (;;) new URL('http://example.com/' + 'ä'.repeat(1e5));`);
  expect(ran.error).toMatchObject(CPU_LIMIT);
});
