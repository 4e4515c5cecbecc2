// tenancy: The id of the neighbour's data store, in every route that takes one and as the prop of a source.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { probeRoutes } from '../../support/hostile-tenancy.ts';

const world = hostile();

const READER = `export default { name: 'Reader', version: '1', props: { store: 'data_store' }, async run() { this.$emit(await this.store.keys()); } };`;

it('is answered like an id that nobody has, and the store is as it was', async () => {
  const { attacker, neighbour } = world;
  const { body } = await neighbour.api('POST', '/data_stores', { name: 'Theirs' });
  const { id } = body.data as { id: string };
  await neighbour.api('PUT', `/data_stores/${id}/record`, { key: 'a', value: 'theirs' });
  await world.unharmed(async () => {
    const probes = await probeRoutes(world, '/data_stores', id);
    expect(probes.length).toBeGreaterThan(7);
    for (const { method, path, foreign, unknown } of probes)
      expect([method, path, foreign]).toEqual([method, path, unknown]);
    for (const store of [id, { id }, `${id}\n`, [id]]) {
      const made = await attacker.api('POST', '/sources', { component_code: READER, configured_props: { store } });
      expect([store, made.status]).toEqual([store, 400]);
    }
    for (const [method, path] of [
      ['GET', `/data_stores/${id}/record?key=a`],
      ['DELETE', `/data_stores/${id}/record?key=a`],
      ['DELETE', `/data_stores/${id}/records`],
      ['PUT', `/data_stores/${id}/record?key=a&value=taken`],
    ] as const)
      expect((await attacker.api(method, path)).status).toBe(404);
  });
  const kept = await neighbour.api('GET', `/data_stores/${id}/record?key=a`);
  expect(kept.body.data.value).toBe('theirs');
});
