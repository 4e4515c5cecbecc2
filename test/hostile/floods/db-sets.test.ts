// limits: Values without end for the store, one key each.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

it('their bytes count as output, and the run ends at its limit', async () => {
  await world.limit({ maxRunOutputBytes: 65_536 });
  const ran = await world.unharmed(() =>
    world.attack(`for (let i = 0; i < 5000; i++) try { this.db.set('key ' + i, 'x'.repeat(1000)) } catch {}`),
  );
  expect(ran.error).toMatchObject({ code: 'OUTPUT_LIMIT', limit: { name: 'maxRunOutputBytes', value: 65_536 } });
  const [stored] = await world.sql`select count(*)::int as keys from component_db where source_id = ${ran.sourceId}`;
  expect(stored?.['keys']).toBeLessThanOrEqual(65);
});
