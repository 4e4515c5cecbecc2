// tenancy: The neighbour's saved code, by its id and by its key: read, deployed, and put into a source of the attacker's.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED, probeRoutes } from '../../support/hostile-tenancy.ts';

const world = hostile();

it('is not there for anyone else, by whatever name', async () => {
  const { attacker, neighbour } = world;
  const saved = await neighbour.api('POST', '/components', { component_code: OWNED });
  const { id } = saved.body.data as { id: string };
  const own = await attacker.deploy(`export default { name: 'Own', version: '1', run() {} };`);
  await world.unharmed(async () => {
    for (const { foreign, unknown } of await probeRoutes(world, '/components', id)) {
      expect(foreign).toMatchObject({ status: 404 });
      expect(foreign).toEqual(unknown);
    }
    for (const name of ['owned', encodeURIComponent('owned/../owned'), 'OWNED', '%6fwned']) {
      expect([name, (await attacker.api('GET', `/components/${name}`)).status]).toEqual([name, 404]);
    }
    for (const componentId of [id, 'owned']) {
      const deployed = await attacker.api('POST', '/sources', { component_id: componentId });
      const changed = await attacker.api('PUT', `/sources/${own.id}`, { component_id: componentId });
      expect([deployed.status, changed.status]).toEqual([404, 404]);
      expect(deployed.text + changed.text).not.toContain('this.$emit');
    }
  });
});
