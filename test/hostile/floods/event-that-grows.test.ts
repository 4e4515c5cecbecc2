// limits: An event of a few objects, whose JSON is of gigabytes because they are shared.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of CPU time, inside the isolate', async () => {
  await world.limit({ runCpuMs: 1_000, memoryMb: 64 });
  const ran = await world.unharmed(() =>
    world.attack(
      `let bomb = 'x'.repeat(100); for (let i = 0; i < 24; i++) bomb = [bomb, bomb, bomb, bomb]; this.$emit(bomb)`,
    ),
  );
  expect(ran.error).toMatchObject({ code: 'CPU_LIMIT', limit: { name: 'runCpuMs', value: 1_000 } });
  expect(ran.events).toEqual([]);
});
