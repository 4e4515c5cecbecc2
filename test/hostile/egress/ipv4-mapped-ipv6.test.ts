// egress: Private IPv4 addresses written as IPv4-mapped IPv6 ones.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is judged as the IPv4 address it is', async () => {
  const urls = [
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:a00:1]/',
    'http://[::ffff:169.254.169.254]/',
    'http://[0:0:0:0:0:ffff:c0a8:101]/',
    'http://[::ffff:0:10.0.0.1]/',
  ];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
