// limits: Timers of no delay that set each other: the isolate is entered again and again, and does next to nothing.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('what entering it costs is counted, and the run ends at the limit of CPU time', async () => {
  await world.limit({ runCpuMs: 100, timerRunWallMs: 15_000 });
  const ran = await world.unharmed(() =>
    world.attack(
      'const again = () => setImmediate(again); for (let i = 0; i < 50; i++) again(); await new Promise(() => {});',
    ),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 100 } });
});
