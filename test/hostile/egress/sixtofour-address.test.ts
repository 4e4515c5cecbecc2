// egress: Private IPv4 addresses inside 6to4 addresses.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is refused, whatever is inside', async () => {
  const urls = [
    'http://[2002:7f00:1::]/',
    'http://[2002:a00:1::1]/',
    'http://[2002:a9fe:a9fe::1]/',
    'http://[2002:808:808::1]/',
  ];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
