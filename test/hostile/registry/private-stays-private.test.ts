// tenancy: Code that the neighbour has saved and published for his account: found, read, deployed or published by its id, key or import.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { registryCode, saveCode, uniquePrefix } from '../../support/hostile-registry-kit.ts';

const world = hostile();

it('is not there for anyone else, in no list, search or registry', async () => {
  const { attacker, neighbour } = world;
  await world.limit({ maxRegistryVersions: 10 });
  const key = `${uniquePrefix()}-private`;
  const id = await saveCode(neighbour, registryCode(key, '1.0.0', "secretMark: 'only-the-neighbour-knows',"));
  await neighbour.api('POST', `/components/${id}/publish`, {});
  const started = await neighbour.api('POST', '/registry/import', {
    files: { 'a/sources/b/b.mjs': registryCode(`${key}-too`, '1.0.0') },
  });
  await world.unharmed(async () => {
    for (const name of [id, key]) {
      const answers = [
        await attacker.api('GET', `/components/${name}`),
        await attacker.api('GET', `/components/${name}?version=1.0.0`),
        await attacker.api('GET', `/components/registry/${name}`),
        await attacker.api('POST', `/components/${name}/publish`, { scope: 'registry' }),
        await attacker.api('POST', `/components/${name}/unpublish`, {}),
        await attacker.api('POST', `/components/${name}/configure`, { prop_name: 'a' }),
        await attacker.api('DELETE', `/components/${name}`),
        await attacker.api('POST', '/sources', { component_key: name }),
        await attacker.api('POST', '/sources', { component_id: name }),
      ];
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404));
      expect(answers.map(({ text }) => text).join()).not.toContain('only-the-neighbour-knows');
    }
    const lists = [
      await attacker.api('GET', `/components?q=${key}`),
      await attacker.api('GET', `/components?key=${key}`),
      await attacker.api('GET', `/components/registry?q=${key}`),
    ];
    expect(lists.map(({ body }) => body.data)).toEqual([[], [], []]);
    expect((await attacker.api('GET', `/registry/imports/${started.body.data.id}`)).status).toBe(404);
  });
  expect((await neighbour.api('GET', `/components/${key}`)).body.data.id).toBe(id);
});
