// tenancy: The id of the neighbour's webhook in every route that takes one, its deliveries and signing secret included.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { probeRoutes } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('every route answers as it does for a webhook that does not exist, and nothing happens to it', async () => {
  const made = await world.neighbour.api('POST', '/webhooks', { url: 'https://receiver.example/in' });
  const { id, secret } = made.body.data as { id: string; secret: string };
  const before = await world.neighbour.api('GET', `/webhooks/${id}`);
  const probes = await world.unharmed(() => probeRoutes(world, '/webhooks', id));
  expect(probes.map(({ path }) => path)).toContain('/webhooks/{id}/deliveries');
  for (const { method, path, foreign, unknown } of probes) {
    // An answer to a tunnel without content is invalid for any id.
    const status = path === '/webhooks/{id}/answer' ? 400 : 404;
    expect({ method, path, ...(foreign as object) }).toMatchObject({ method, path, status });
    expect(foreign).toEqual(unknown);
  }
  expect(JSON.stringify(probes)).not.toContain(secret);
  expect((await world.neighbour.api('GET', `/webhooks/${id}`)).text).toBe(before.text);
});
