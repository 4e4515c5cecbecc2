// tenancy: The id of the neighbour's source in every route that takes the id of a source.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED, probeRoutes } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('every route answers as it does for a source that does not exist, and nothing happens to it', async () => {
  const source = await world.neighbour.deploy(OWNED);
  const before = await world.neighbour.api('GET', `/sources/${source.id}`);
  const probes = await world.unharmed(() => probeRoutes(world, '/sources', source.id));
  expect(probes.length).toBeGreaterThanOrEqual(7);
  for (const { method, path, foreign, unknown } of probes) {
    expect({ method, path, ...(foreign as object) }).toMatchObject({ method, path, status: 404 });
    expect(foreign).toEqual(unknown);
  }
  expect((await world.neighbour.api('GET', `/sources/${source.id}`)).text).toBe(before.text);
});
