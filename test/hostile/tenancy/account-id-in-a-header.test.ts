// tenancy: Headers that name the neighbour's account, as proxies in front of other services set them.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const HEADERS = ['x-account-id', 'x-account', 'x-tenant-id', 'x-org-id', 'x-user-id', 'x-forwarded-user', 'x-api-key'];

it('the key alone says whose request it is', async () => {
  const { attacker, neighbour, server } = world;
  const source = await neighbour.deploy(`export default { name: 'Mine', version: '1', run() {} };`);
  await world.unharmed(async () => {
    for (const header of HEADERS) {
      const headers = { authorization: `Bearer ${attacker.key}`, [header]: neighbour.id };
      const me = await fetch(`${server.url}/v1/users/me`, { headers });
      expect(await me.text()).not.toContain(neighbour.id);
      const shown = await fetch(`${server.url}/v1/sources/${source.id}`, { headers });
      expect([header, shown.status]).toEqual([header, 404]);
    }
  });
});
