// egress: A name that has a public address when it is checked, and a private one at every later question.
import { expect, it } from 'vitest';
import { nameWith, questionsFor } from '../../support/hostile-dns.ts';
import { fetchEach, NOT_PUBLIC, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const reached: (string | undefined)[] = [];
// Each answer ends the connection, so that the next request makes one.
const server = rawServer((socket) => {
  reached.push(socket.localAddress);
  socket.end(response('content-length: 2\r\n', 'ok'));
}, '0.0.0.0');

it('is connected at the address that was checked, and checked again for the next connection', async () => {
  const ran = await world.unharmed(async () => {
    const name = await nameWith({ addresses: ['127.0.0.1'] }, { addresses: [PRIVATE_LOOPBACK] });
    const url = `http://${name}:${server.port}/`;
    const first = await fetchEach(world, [url]);
    const asked = await questionsFor(name);
    return { first, asked, later: await fetchEach(world, [url, url]) };
  });
  expect(ran.first.reached).toMatchObject([{ status: 200 }]);
  expect(ran.asked).toEqual({ A: 1, AAAA: 1 });
  expect(ran.later.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.later.reached).toEqual([]);
  expect(new Set(reached)).toEqual(new Set(['127.0.0.1']));
});
