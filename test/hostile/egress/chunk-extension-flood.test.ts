// limits: A body of one byte, after a chunk extension that never ends: bytes that no count of the body sees.
import { expect, it } from 'vitest';
import { drip, fetchEach, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;');
  drip(socket, 'e'.repeat(1024), 5);
});

it('is over at the timeout at the latest', async () => {
  await world.limit({ fetchTimeoutMs: 1_000 });
  const ran = await world.unharmed(() => fetchEach(world, [server.url]));
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'fetchTimeoutMs', value: 1_000 } });
  await expect.poll(server.open).toBe(0);
});
