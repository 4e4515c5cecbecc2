// isolate: Listeners added to one EventTarget without end.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they stay in the isolate, and end at the limit of CPU time', async () => {
  await world.limit({ runCpuMs: 1_000, memoryMb: 64 });
  const ran = await world.unharmed(() =>
    world.attack(`const target = new EventTarget(); for (let i = 0; ; i++) target.addEventListener('t' + i, () => i)`),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 1_000 } });
});
