// egress: Private IPv4 addresses behind the prefixes of NAT64, which an IPv6-only network would translate.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is judged as the IPv4 address it leads to', async () => {
  const urls = [
    'http://[64:ff9b::10.0.0.1]/',
    'http://[64:ff9b::a9fe:a9fe]/',
    'http://[64:ff9b::ac10:1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[64:ff9b:1:ffff::192.168.0.1]/',
  ];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
