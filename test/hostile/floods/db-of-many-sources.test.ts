// limits: Many sources of one account, each with a `$.service.db` that is filled as far as it goes.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const SOURCES = 8;
const MAX = 128 * 1024;

const FILL = `export default { name: 'Fill', version: '1', props: { db: '$.service.db' }, run() {
  for (let i = 0; i < 100; i++) this.db.set('key ' + i, 'x'.repeat(1_000));
} };`;

it('together they hold what the account may, and runs beyond it end at that limit', async () => {
  const { attacker, sql } = world;
  await world.limit({ maxAllDbBytes: MAX });
  const sources = await Promise.all(Array.from({ length: SOURCES }, () => attacker.deploy(FILL)));
  const ends = await world.unharmed(() => Promise.all(sources.map(({ id }) => world.run(id))));
  const [stored] = await sql<{ bytes: number }[]>`
    select sum(octet_length(key) + octet_length(value) + 64)::int4 as bytes from component_db where account_id = ${attacker.id}`;
  expect(stored?.bytes).toBeLessThanOrEqual(MAX);
  expect(stored?.bytes).toBeGreaterThan(MAX - 2_000);
  const errors = ends.flatMap(({ error }) => (error === undefined ? [] : [error]));
  expect(errors.length).toBeGreaterThanOrEqual(SOURCES - 1);
  for (const error of errors)
    expect(error).toMatchObject({ code: 'RESOURCE_LIMIT', limit: { name: 'maxAllDbBytes', value: MAX } });
});
