// isolate: Messages posted to a port without end, each of which posts two more.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('they stay in the isolate, and the run ends at its limit of open timers', async () => {
  await world.limit({ maxTimersPerRun: 100 });
  const ran = await world.unharmed(() =>
    world.attack(`
      const { port1, port2 } = new MessageChannel();
      port2.onmessage = () => { port1.postMessage('x'); port1.postMessage('y') };
      port1.postMessage('x'); await new Promise(() => {})`),
  );
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxTimersPerRun', value: 100, used: 101 },
  });
});
