// process: Formatters of Intl, whose memory is neither in the heap nor counted by it.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('what it makes of the process is bounded by the time that they take, and the run ends at that limit', async () => {
  await world.limit({ memoryMb: 32, runCpuMs: 800 });
  const ran = await world.unharmed(() =>
    world.attack(`const kept = []; for (;;) kept.push(new Intl.DateTimeFormat('de', { timeZone: 'Europe/Berlin' }));`),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 800 } });
  expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(800);
});
