// egress: Private IPv4 addresses inside Teredo addresses, which hold them inverted.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is refused, whatever is inside', async () => {
  const urls = [
    'http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/',
    'http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'http://[2001::1]/',
  ];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
