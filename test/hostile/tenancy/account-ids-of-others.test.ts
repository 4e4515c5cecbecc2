// tenancy: The neighbour's account id in the paths of workspaces, orgs and accounts.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED, probeRoutes } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('lists nothing of it, and says nothing about it', async () => {
  await world.neighbour.deploy(OWNED);
  await world.unharmed(async () => {
    for (const prefix of ['/workspaces', '/orgs']) {
      const probes = await probeRoutes(world, prefix, world.neighbour.id);
      expect(probes.length).toBeGreaterThanOrEqual(3);
      for (const { path, foreign, unknown } of probes) {
        expect({ path, ...(foreign as object) }).toMatchObject({ path, status: 404 });
        expect(foreign).toEqual(unknown);
      }
    }
    for (const { method, path, foreign, unknown } of await probeRoutes(world, '/accounts', world.neighbour.id)) {
      // Operator routes refuse with 403 before the id is read. Without a further path, the id is
      // that of a connected account.
      const isOfAccounts = path === '/accounts/{id}/portal_links' || (path === '/accounts/{id}' && method !== 'PUT');
      const status = isOfAccounts ? 404 : 403;
      expect({ method, path, ...(foreign as object) }).toMatchObject({ method, path, status });
      expect(foreign).toEqual(unknown);
    }
  });
});
