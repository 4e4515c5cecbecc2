// bridge: An error whose message is 20 megabytes, of lines that look like frames.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('arrives cut', async () => {
  const ran = await world.unharmed(() =>
    world.attack(`throw new Error('\\n    at x (hw:component:1:1)'.repeat(720_000));`),
  );
  expect(ran.error?.code).toBe('COMPONENT_ERROR');
  expect(ran.error?.message.length).toBeLessThan(5_000);
  expect(ran.error?.stack?.length ?? 0).toBeLessThan(10_000);
});
