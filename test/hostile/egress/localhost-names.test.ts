// egress: Names that stand for this machine, towards the port of the API.
import { expect, it } from 'vitest';
import { fetchEach, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
// Whether the name has addresses that are allowed here is the machine's affair; the port is refused
// in any case.
const REFUSED = /not reached from here|No public address was found/;

it('lead nowhere', async () => {
  const { port } = new URL(world.server.url);
  const names = ['localhost', 'localhost.', 'LocalHost', 'api.localhost', 'a.b.localhost.', 'localhost.localdomain'];
  const urls = names.map((name) => `http://${name}:${port}/healthz`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(REFUSED));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(REFUSED);
});
