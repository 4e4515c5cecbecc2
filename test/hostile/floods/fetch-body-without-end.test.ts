// limits: A request whose body is a stream that never ends.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is read in the isolate, at the cost of the run, and ends at one of its limits', async () => {
  await world.limit({ runCpuMs: 1_000, memoryMb: 64 });
  const ran = await world.unharmed(() =>
    world.attack(`
      const chunk = new Uint8Array(1e6);
      const body = new ReadableStream({ pull: (controller) => controller.enqueue(chunk.slice()) });
      await fetch('http://10.0.0.1/', { method: 'POST', body, duplex: 'half' })`),
  );
  expect(ran.error).toBeDefined();
  expect(['CPU_LIMIT', 'MEMORY_LIMIT', 'COMPONENT_ERROR', 'RESOURCE_LIMIT']).toContain(ran.error?.code);
});
