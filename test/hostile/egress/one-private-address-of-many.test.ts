// egress: A name with many addresses, of which one is private, for a connection that takes whichever answers first.
import { expect, it } from 'vitest';
import { nameWith } from '../../support/hostile-dns.ts';
import { fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');
const MANY = Array.from({ length: 200 }, (_, i) => `127.0.0.${i + 1}`);

const urlOf = async (...addresses: string[]) => `http://${await nameWith({ addresses })}:${server.port}/`;

it('is refused whole wherever the private one is', async () => {
  const attack = async () => {
    const places = [0, 7, 8, 100, 200].map((place) => MANY.toSpliced(place, 0, PRIVATE_LOOPBACK));
    const mixed = [...places, [...MANY, '::1'], ['::1', ...MANY]];
    return fetchEach(world, await Promise.all(mixed.map((addresses) => urlOf(...addresses))));
  };
  const ran = await world.unharmed(attack);
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
  expect(server.connections()).toBe(0);
});

it('is connected at one of the others without it', async () => {
  expect((await fetchEach(world, [await urlOf(...MANY)])).reached).toMatchObject([{ status: 200 }]);
});
