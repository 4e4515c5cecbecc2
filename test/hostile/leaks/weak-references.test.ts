// isolate: Weak references made without end, each of which keeps its target until the current task is done.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('ends at the limit of memory or of CPU time', async () => {
  await world.limit({ memoryMb: 32, runCpuMs: 1_500 });
  const ran = await world.unharmed(() =>
    world.attack(`
      const registry = new FinalizationRegistry(() => {});
      for (let i = 0; ; i++) {
        const target = { data: new Array(50).fill(i) };
        registry.register(target, i);
        new WeakRef(target).deref();
      }`),
  );
  expect(['CPU_LIMIT', 'MEMORY_LIMIT']).toContain(ran.error?.code);
  expect(ran.error?.limit?.value).toBeGreaterThan(0);
});
