// isolate: Messages posted to a port without end, each of which posts two more.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they stay in the isolate, and end at one of its limits', async () => {
  await world.limit({ runCpuMs: 500, memoryMb: 64 });
  const ran = await world.unharmed(() =>
    world.attack(`
      const { port1, port2 } = new MessageChannel();
      port2.onmessage = () => { port1.postMessage('x'); port1.postMessage('y') };
      port1.postMessage('x'); await new Promise(() => {})`),
  );
  expect(['CPU_LIMIT', 'MEMORY_LIMIT', 'RESOURCE_LIMIT']).toContain(ran.error?.code);
  expect(ran.error?.limit?.value).toBeGreaterThan(0);
});
