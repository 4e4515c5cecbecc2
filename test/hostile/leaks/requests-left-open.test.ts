// process: A run that returns while its requests wait for servers that never answer.
import { expect, it } from 'vitest';
import { rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer(() => undefined);

it('their connections are closed with the run', async () => {
  const ran = await world.unharmed(() =>
    world.attack(`
      for (let i = 0; i < 20; i++) fetch('${server.url}/' + i).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 300));
      this.$emit('gone');`),
  );
  expect(ran.error).toBeUndefined();
  expect(ran.events).toContain('gone');
  await expect.poll(server.open).toBe(0);
});
