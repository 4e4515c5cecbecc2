import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

// fairness: An import whose account has slow builds waiting before it, while the neighbour imports
// something small.
describe('import-behind-slow-builds', () => {
  const world = hostile({ ownAccounts: true });

  /** Enough imports to stop the bundler at its time limit. */
  const slow = (i: number) => Array.from({ length: 50_000 }, (_, k) => `import'p${i}-${k.toString(36)}';`).join('');
  const files = { 'a/sources/s/s.mjs': `export default { name: 'S', version: '1.0.0', run() {} };` };

  it('waits behind them, and the neighbour’s does not', async () => {
    const { attacker, neighbour } = world;
    const start = async (who: typeof attacker) => {
      const { body } = await who.api('POST', '/registry/import', { files, scope: 'draft' });
      const get = async () => (await who.api('GET', `/registry/imports/${body.data.id}`)).body.data;
      return { isOver: async () => (await get()).status === 'done', get };
    };
    await world.unharmed(async () => {
      let over = 0;
      const flood = Array.from({ length: 3 }, async (_, i) => {
        const { status } = await attacker.api('POST', '/components', { component_code: slow(i) });
        over++;
        return status;
      });
      const first = await start(attacker);
      const begun = () => world.sql`
      select from registry_import_files f join registry_imports i on i.id = f.import_id
      where i.account_id = ${attacker.id} and f.attempts > 0`;
      await eventually(async () => (await begun()).length > 0, { what: 'the import of the attacker to begin' });
      const own = await start(neighbour);
      await eventually(own.isOver, { what: 'the import of the neighbour' });
      expect(await own.get()).toMatchObject({ succeeded: 1 });
      expect(await first.isOver()).toBe(false);
      expect(over).toBeLessThan(3);
      expect(await Promise.all(flood)).toEqual([400, 400, 400]);
      await eventually(first.isOver, { what: 'the import of the attacker' });
    });
  });
});
