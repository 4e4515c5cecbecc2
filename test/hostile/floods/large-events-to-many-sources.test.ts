// fairness: Events of nearly a megabyte each, heard by five sources at once.
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { subscribe } from '../../support/hostile-tenant.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const EMIT = `export default { name: 'Large', version: '1', run() { for (let i = 0; i < 6; i++) this.$emit('x'.repeat(900_000)); } };`;
const HEAR = `export default { name: 'Hears', version: '1', run(event) { this.$emit(event.length); } };`;
const SOURCES = 5;

it('are heard at a pace, and each is', async () => {
  const { attacker, sql } = world;
  const source = await attacker.deploy(EMIT);
  for (let i = 0; i < SOURCES; i++) await subscribe(attacker, source.id, (await attacker.deploy(HEAR)).id);
  let rounds = 0;
  await world.unharmed(async () => {
    rounds++;
    await attacker.api('POST', `/sources/${source.id}/run`, {});
    await eventually(
      async () => {
        const rows = await sql`
          select from events where account_id = ${attacker.id} and emitter_id <> ${source.id} and data = '900000'`;
        return rows.length === 6 * SOURCES * rounds;
      },
      { timeoutMs: 60_000, everyMs: 100, what: 'all of them to be heard' },
    );
  });
  expect(await sql`select from invocations where account_id = ${attacker.id}`).toHaveLength(0);
});
