// egress: The port of the database, on a range that the operator has allowed, in every spelling of this machine.
import { expect, it } from 'vitest';
import { fetchEach, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is never reached', async () => {
  const { port } = new URL(world.server.databaseUrl);
  const hosts = ['127.0.0.1', '127.0.0.2', '2130706433', '0177.0.0.1', '[::ffff:7f00:1]'];
  const urls = hosts.map((host) => `http://${host}:${port}/`);
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(/not reached from here/));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(/not reached from here/);
});
