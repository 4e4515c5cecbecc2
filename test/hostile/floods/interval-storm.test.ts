// limits: A thousand intervals of a millisecond, each of which does next to nothing.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('what it costs the process to fire them is the CPU time of the run', async () => {
  await world.limit({ runCpuMs: 300, maxTimersPerRun: 1_000 });
  const ran = await world.unharmed(() =>
    world.attack(`for (let i = 0; i < 1000; i++) setInterval(() => {}, 1); await new Promise(() => {})`),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 300 } });
});
