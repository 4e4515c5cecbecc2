// bridge: Timers that are set and cleared without end, so that none is ever open.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('what one stretch of code can send is bounded, and the loop ends at its CPU time', async () => {
  await world.limit({ runCpuMs: 500, maxTimersPerRun: 10 });
  const ran = await world.unharmed(() =>
    world.attack(`for (;;) try { clearTimeout(setTimeout(() => {}, 1000)) } catch {}`),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 500 } });
});
