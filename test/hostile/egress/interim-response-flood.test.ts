// egress: One interim response after another (103 Early Hints), and never the response.
import { expect, it } from 'vitest';
import { fetchEach, flood, rawServer, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';
const server = rawServer((socket, request) => {
  if (request.startsWith('GET /few')) {
    socket.end(`${HINTS}${HINTS}HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok`);
  } else flood(socket, HINTS.repeat(200));
});

it('is ended, while a few of them do no harm', async () => {
  const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/few`, server.url]));
  expect(ran.reached).toEqual([{ url: `${server.url}/few`, status: 200 }]);
  expect(ran.error).toMatchObject(refusedRun(/one interim response after another/));
  await expect.poll(server.open).toBe(0);
});
