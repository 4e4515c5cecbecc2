// egress: Private networks of IPv6, today’s and the ones before.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is no public address', async () => {
  const urls = [
    'http://[fc00::1]/',
    'http://[fd12:3456:789a::1]/',
    'http://[fec0::1]/',
    'http://[4000::1]/',
    'http://[5f00::1]/',
  ];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
