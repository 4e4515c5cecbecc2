// process: A run that returns in the middle of answers that never end.
import { expect, it } from 'vitest';
import { drip, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
  drip(socket, 'a');
});

it('their connections are closed with the run', async () => {
  // A run waits for its requests until its time is over.
  await world.limit({ timerRunWallMs: 2_000 });
  const ran = await world.unharmed(() =>
    world.attack(`
      for (let i = 0; i < 10; i++) fetch('${server.url}').then((answer) => answer.text()).catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 300));
      this.$emit('gone');`),
  );
  expect(ran.error).toBeUndefined();
  await expect.poll(server.open).toBe(0);
});
