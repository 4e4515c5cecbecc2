// egress: The operator’s DNS server as a target of its own, on a range that is allowed: it knows the names of the operator’s network.
import { expect, it } from 'vitest';
import { nameWith } from '../../support/hostile-dns.ts';
import { fetchEach, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const REFUSED = /not reached from here/;

it('is reached by nobody', async () => {
  const port = world.server.dnsServer.split(':')[1];
  const ran = await world.unharmed(async () => {
    const name = await nameWith({ addresses: ['127.0.0.1'] });
    const hosts = ['127.0.0.1', '127.1', '127.9.9.9', '[::ffff:127.0.0.1]', name];
    return fetchEach(
      world,
      hosts.map((host) => `http://${host}:${port}/`),
    );
  });
  expect(ran.error).toMatchObject(refusedRun(REFUSED));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(REFUSED);
});
