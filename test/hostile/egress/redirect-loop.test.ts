// egress: Redirects in a circle, and a chain of them that never ends.
import { expect, it } from 'vitest';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
let hops = 0;
const server = rawServer((socket, request) => {
  const next = request.startsWith('GET /circle') ? '/circle' : `/chain/${hops++}`;
  socket.end(response(`location: ${next}\r\ncontent-length: 0\r\n`, '', '302 Found'));
});

it('ends after ten', async () => {
  const ran = await world.unharmed(() => fetchEach(world, [`${server.url}/circle`, `${server.url}/chain`]));
  expect(ran.messages).toHaveLength(2);
  for (const message of ran.messages) expect(message).toMatch(/\b11 .*the limit maxFetchRedirects is 10$/);
  expect(ran.reached).toEqual([]);
  expect(server.connections() % 22).toBe(0);
});
