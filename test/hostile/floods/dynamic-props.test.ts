// database: Asking for dynamic props again and again, each time as large as they may be.
import { expect, it } from 'vitest';
import { LIMITS } from '../../../shared/src/index.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const LARGE = `export default { name: 'Large', version: '1',
  additionalProps() { return Object.fromEntries(Array.from({ length: 50 }, (_, i) => ['p' + i, { type: 'string', description: 'x'.repeat(4_500) }])); },
  run() {} };`;
const TOO_LARGE = LARGE.replace('4_500', '9_000');

it('only the newest are kept, and too large ones are refused', async () => {
  const { attacker, sql } = world;
  const { id } = (await attacker.api('POST', '/components', { component_code: LARGE })).body.data as { id: string };
  const other = (await attacker.api('POST', '/components', { component_code: TOO_LARGE })).body.data as { id: string };
  await world.unharmed(async () => {
    expect((await attacker.api('POST', `/components/${other.id}/props`, {})).status).toBe(422);
    for (let i = 0; i < LIMITS.maxDynamicPropsPerAccount + 10; i += 10) {
      const made = await Promise.all(
        Array.from({ length: 10 }, () => attacker.api('POST', `/components/${id}/props`, {})),
      );
      for (const { status } of made) expect(status).toBe(200);
    }
  });
  // Those that are inserted at the same moment do not see each other.
  const [row] = await sql`select count(*)::int as count from dynamic_props where account_id = ${attacker.id}`;
  expect(row?.['count']).toBeLessThanOrEqual(LIMITS.maxDynamicPropsPerAccount + 10);
});
