// egress: Ports of other protocols, whose servers can be talked into acting on the lines of an HTTP request.
import { expect, it } from 'vitest';
import { fetchEach, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('are not reached at any host', async () => {
  const urls = [22, 25, 110, 143, 465, 587, 6667].map((port) => `http://127.0.0.1:${port}/`);
  const ran = await world.unharmed(() => fetchEach(world, [...urls, 'http://mail.example.com:25/']));
  expect(ran.error).toMatchObject(refusedRun(/it is no HTTP port/));
  expect(ran.reached).toEqual([]);
});
