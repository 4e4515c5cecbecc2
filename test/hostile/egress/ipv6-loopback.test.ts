// egress: The loopback address of IPv6, long and short, and the unspecified one that leads there.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is refused in every spelling', async () => {
  const urls = [
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]:8080/',
    'http://[0000::0001]/',
    'http://[::]/',
    'http://[::0.0.0.1]/',
  ];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
