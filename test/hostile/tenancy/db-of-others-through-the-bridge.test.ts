// bridge: Calls of `this.db` and of the bridge that name the neighbour's source.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const DB = "props: { http: '$.interface.http', db: '$.service.db' }";

it('no call takes an id: values are those of the source that runs', async () => {
  const { neighbour, sql } = world;
  const theirs = await neighbour.deploy(`export default { name: 'Db', version: '1', ${DB},
    run() { this.db.set('key', 'of the neighbour'); } };`);
  await neighbour.api('POST', `/sources/${theirs.id}/run`, {});
  const ran = await world.unharmed(() =>
    world.attack(
      `const id = event.id;
      this.id = this.sourceId = this.db.sourceId = this.db.id = this.db.accountId = id;
      this.db.set('key', 'of the attacker', id);
      this.db.set({ toString: () => id + '/key' }, 1);
      const values = [await this.db.get('key', id), await this.db.get(id + '/key'), await this.db.get(['key', id]),
        await this.db.get.call({ id, sourceId: id }, 'key')];
      const other = { ...this.db, id, sourceId: id };
      values.push(await other.get('key'));
      this.$emit({ values, own: Object.getOwnPropertyNames(globalThis).filter((name) => /bridge|host|ivm|isolate/i.test(name)) });`,
      { event: { id: theirs.id } },
    ),
  );
  expect(JSON.stringify(ran)).not.toContain('of the neighbour');
  const rows = await sql`select source_id, value from component_db where source_id = ${theirs.id}`;
  expect(rows).toEqual([{ source_id: theirs.id, value: '"of the neighbour"' }]);
});
