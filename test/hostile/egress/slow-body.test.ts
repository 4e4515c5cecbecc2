// limits: An answer that comes a byte at a time, and says that it has a gigabyte.
import { expect, it } from 'vitest';
import { drip, fetchEach, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket, request) => {
  const length = request.startsWith('GET /short') ? 5 : 1_000_000_000;
  socket.write(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`);
  drip(socket, 'a');
});

it('ends at the timeout of a request, and its connection is closed', async () => {
  await world.limit({ fetchTimeoutMs: 1_000 });
  // The short one arrives, byte by byte: what the long one waits for is the rest of its body.
  const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/short`, `${server.url}/long`]));
  expect(ran.reached).toEqual([{ url: `${server.url}/short`, status: 200 }]);
  expect(ran.error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'fetchTimeoutMs', value: 1_000 } });
  expect(ran.error?.limit?.used).toBeGreaterThanOrEqual(1_000);
  await expect.poll(server.open).toBe(0);
});
