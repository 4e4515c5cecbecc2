// egress: IPv4 addresses in the last 32 bits of an otherwise empty IPv6 address, an abandoned notation.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is refused, whatever is inside', async () => {
  const urls = ['http://[::10.0.0.1]/', 'http://[::7f00:1]/', 'http://[::169.254.169.254]/', 'http://[::8.8.8.8]/'];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
