// egress: Addresses with a zone, plain and encoded, which name an interface of the machine.
import { expect, it } from 'vitest';
import { fetchEach, refusedRun, requestEach } from '../../support/hostile-egress.ts';
import { PRIVATE_LOOPBACK } from '../../support/hostile-server.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const ADDRESSES = ['fe80::1', '::1', `::ffff:${PRIVATE_LOOPBACK}`, '2606:4700::1111'];
const ZONED = ADDRESSES.flatMap((address) => ['lo', '25lo', '1'].map((zone) => `${address}%${zone}`));

it('are in no URL that fetch takes', async () => {
  const ran = await world.unharmed(() =>
    fetchEach(
      world,
      ZONED.map((host) => `http://[${host}]/`),
    ),
  );
  expect(ran.error).toMatchObject(refusedRun(/Failed to parse URL from/));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(/Failed to parse URL from/);
});

it('are refused by the node as hosts of the module http', async () => {
  const requests = ZONED.map((hostname): [string, object] => ['http://name.test/', { hostname }]);
  const ran = await world.unharmed(() => requestEach(world, requests));
  expect(ran.error).toMatchObject(refusedRun(/is not an absolute URL/));
  expect(ran.reached).toEqual([]);
  for (const message of ran.messages) expect(message).toMatch(/is not an absolute URL/);
});
