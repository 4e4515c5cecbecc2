// egress: A public name that is an alias (CNAME) of one with a private address.
import { expect, it } from 'vitest';
import { nameWith } from '../../support/hostile-dns.ts';
import { fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');

const urlOf = async (alias: string, address: string) =>
  `http://${await nameWith({ alias, addresses: [address] })}:${server.port}/`;

it('is judged by where the alias ends', async () => {
  const ran = await world.unharmed(async () =>
    fetchEach(world, [
      await urlOf('inside.test', PRIVATE_LOOPBACK),
      await urlOf('inside.test', '10.0.0.7'),
      await urlOf('localhost', '::1'),
    ]),
  );
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  expect(server.connections()).toBe(0);
  const outside = await fetchEach(world, [await urlOf('outside.test', '127.0.0.1')]);
  expect(outside.reached).toMatchObject([{ status: 200 }]);
});
