// egress: Trailers without an end, after a body that is complete.
import { expect, it } from 'vitest';
import { fetchEach, flood, rawServer } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const LINES = 'x-a: b\r\n'.repeat(2_048);
const server = rawServer((socket) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n');
  flood(socket, LINES);
});

it('are given up at the limit of headers', async () => {
  const ran = await world.unharmed(() => fetchEach(world, [server.url]));
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxFetchResponseHeaderBytes', value: 16_384 },
  });
  await expect.poll(server.open).toBe(0);
});
