// egress: A name with hundreds of public addresses, for one request to knock at all of them.
import { expect, it } from 'vitest';
import { nameWith } from '../../support/hostile-dns.ts';
import { fetchEach, rawServer, response } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')));
/** Nothing listens at these. */
const MANY = Array.from({ length: 300 }, (_, i) => `127.1.${Math.floor(i / 200)}.${i % 200}`);

async function urlWithServerAt(place: number): Promise<string> {
  return `http://${await nameWith({ addresses: MANY.toSpliced(place, 0, '127.0.0.1') })}:${server.port}/`;
}

it('is tried at a few of them', async () => {
  const ran = await world.unharmed(async () =>
    fetchEach(world, await Promise.all([8, 9, 100, 300].map(urlWithServerAt))),
  );
  expect(ran.error).toMatchObject({
    code: 'COMPONENT_ERROR',
    message: expect.stringMatching(/refused the connection/),
  });
  expect(ran.reached).toEqual([]);
  expect(server.connections()).toBe(0);
});

it('is reached where one of the first eight answers', async () => {
  const { reached } = await fetchEach(world, await Promise.all([0, 7].map(urlWithServerAt)));
  expect(reached).toMatchObject([{ status: 200 }, { status: 200 }]);
});
