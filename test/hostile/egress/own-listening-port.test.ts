// egress: The API of the node, on a range that the operator has allowed, in every spelling of this machine.
import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { fetchEach, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const REFUSED = /not reached from here|not a public address/;

it('is never reached', async () => {
  const { port } = new URL(world.server.url);
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const hosts = ['127.0.0.1', '127.9.9.9', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0', '[::1]'].concat(
    own.filter(({ family }) => family === 'IPv4').map(({ address }) => address),
  );
  const urls = hosts.map((host) => `http://${host}:${port}/v1/users/me`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(REFUSED));
  expect(ran.reached).toEqual([]);
  expect(ran.messages[0]).toMatch(/not reached from here/);
});
