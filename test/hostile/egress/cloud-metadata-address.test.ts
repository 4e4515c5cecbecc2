// egress: The addresses at which clouds give credentials to their machines, in several spellings.
import { expect, it } from 'vitest';
import { fetchEach, NOT_PUBLIC, refusedRun } from '../../support/hostile-egress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is refused at every cloud', async () => {
  const urls = [
    'http://169.254.169.254/latest/meta-data/iam/security-credentials/',
    'http://0xa9fea9fe/',
    'http://2852039166/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'http://169.254.170.2/v2/credentials',
    'http://[fd00:ec2::254]/latest/',
    'http://[fd20:ce::254]/',
    'http://100.100.100.200/',
    'http://168.63.129.16/',
    'http://192.0.0.192/opc/v2/instance/',
  ];
  const ran = await world.unharmed(() => fetchEach(world, urls));
  expect(ran.error).toMatchObject(refusedRun(NOT_PUBLIC));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(NOT_PUBLIC);
});
