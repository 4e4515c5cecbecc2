// limits: One value of ten megabytes for the store.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('is refused where it was set, with its size, and nothing is stored', async () => {
  await world.limit({ maxDbValueBytes: 10_000 });
  const ran = await world.unharmed(() => world.attack(`this.db.set('big', 'x'.repeat(10e6))`));
  expect(ran.error).toMatchObject({
    code: 'RESOURCE_LIMIT',
    limit: { name: 'maxDbValueBytes', value: 10_000, used: 10_000_002 },
  });
  expect(await world.sql`select from component_db where source_id = ${ran.sourceId}`).toEqual([]);
});
