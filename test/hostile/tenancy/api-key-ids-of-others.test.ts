// tenancy: Revoking the neighbour's API key by its id.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { probeRoutes } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('is a 404, and the key goes on working', async () => {
  const listed = await world.neighbour.api('GET', '/api_keys');
  const [{ id }] = listed.body.data as [{ id: string }];
  const probes = await world.unharmed(() => probeRoutes(world, '/api_keys', id));
  expect(probes.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /api_keys/{id}/rotate',
    'DELETE /api_keys/{id}',
  ]);
  for (const { foreign, unknown } of probes) {
    expect(foreign).toMatchObject({ status: 404 });
    expect(foreign).toEqual(unknown);
  }
  expect((await world.neighbour.api('GET', '/api_keys')).text).toContain(id);
});
