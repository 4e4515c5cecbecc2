// egress: Loopback as literal addresses, of which the operator has allowed another part.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');
const HOSTS = [
  PRIVATE_LOOPBACK,
  '127.128.0.0',
  '127.255.255.254',
  '0.0.0.0',
  '[::1]',
  '[::]',
  `[::ffff:${PRIVATE_LOOPBACK}]`,
];

it('is refused before anything is connected', async () => {
  const urls = HOSTS.map((host) => `http://${host}:${server.port}/`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  expect(server.connections()).toBe(0);
  expect((await fetchEach(world, [server.url])).reached).toMatchObject([{ status: 200 }]);
});
