// limits: Millions of labels for console.time and console.count, which are kept.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they are kept in the memory of the isolate, and end at its limit', async () => {
  await world.limit({ runCpuMs: 20_000, memoryMb: 32 });
  const ran = await world.unharmed(() =>
    world.attack(`for (let i = 0; ; i++) console.time('label ' + i + ' '.repeat(1000) + i)`),
  );
  expect(ran.error).toMatchObject({ code: 'MEMORY_LIMIT', limit: { name: 'memoryMb', value: 32 } });
});
