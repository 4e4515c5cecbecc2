// egress: A public name that resolves to a private address.
import { expect, it } from 'vitest';
import { nameWith } from '../../support/hostile-dns.ts';
import { fetchEach, rawServer, refusedRun, response } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const server = rawServer((socket) => socket.end(response('content-length: 2\r\n', 'ok')), '0.0.0.0');
const PRIVATE = [
  '10.0.0.7',
  PRIVATE_LOOPBACK,
  '192.168.0.1',
  '0.0.0.0',
  '::1',
  'fd00::1',
  `::ffff:${PRIVATE_LOOPBACK}`,
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
];

it('is refused in the words of a name that does not exist', async () => {
  const { names, ran } = await world.unharmed(async () => {
    const known = await Promise.all(PRIVATE.map((address) => nameWith({ addresses: [address] })));
    const all = [`unknown-${known[0]}`, ...known];
    const urls = all.map((name) => `http://${name}:${server.port}/`);
    return { names: all, ran: await fetchEach(world, urls) };
  });
  expect(ran.error).toMatchObject(refusedRun(/No public address was found/));
  expect(ran.reached).toEqual([]);
  const words = ran.messages.map((message, index) => message.replace(names[index] ?? '', 'name.test'));
  expect(new Set(words).size).toBe(1);
  expect(words[0]).toMatch(/^fetch failed: No public address was found for name\.test/);
  expect(server.connections()).toBe(0);
});

it('is reached where its address is allowed', async () => {
  const names = await Promise.all(
    ['127.0.0.1', '::ffff:127.0.0.1'].map((address) => nameWith({ addresses: [address] })),
  );
  const { reached } = await fetchEach(
    world,
    names.map((name) => `http://${name}:${server.port}/`),
  );
  expect(reached).toMatchObject([{ status: 200 }, { status: 200 }]);
});
