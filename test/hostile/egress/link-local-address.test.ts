// egress: Addresses of the own link of both families.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is no public address', async () => {
  const urls = ['http://169.254.1.1/', 'http://[fe80::1]/', 'http://[febf::1]/', 'http://[fe80::a9fe:a9fe]/'];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
