// secrets: The neighbour's sealed secret, copied from a backup: given as a prop, and written into the attacker's own row.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const CODE = `export default { name: 'Reads', version: '1', props: { token: { type: 'string', secret: true } },
  run() { this.$emit({ length: this.token.length }); } };`;
const SECRET = 'the-secret-of-the-neighbour';

it('opens for nobody else, whichever way it comes in', async () => {
  const { attacker, neighbour, sql } = world;
  const theirs = await neighbour.deploy(CODE, { token: SECRET });
  const [row] = await sql`select configured_props from sources where id = ${theirs.id}`;
  const stolen = row?.['configured_props'].token.$sealed as string;
  await world.unharmed(async () => {
    const given = await attacker.api('POST', '/sources', {
      component_code: CODE,
      configured_props: { token: { $sealed: stolen } },
    });
    expect([given.status, given.body.errors[0].message]).toEqual([400, 'The key $sealed is reserved']);
    const mine = await attacker.deploy(CODE, { token: 'my-own-secret' });
    await sql`update sources set configured_props = jsonb_set(configured_props, '{token,$sealed}', to_jsonb(${stolen}::text)),
      revision = revision + 1 where id = ${mine.id}`;
    await sql`select pg_notify('headwater_source_changed', ${mine.id})`;
    const ran = await world.run(mine.id);
    expect(ran.error).toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining('token cannot be opened; set it again'),
    });
    expect(ran.events).toEqual([]);
    // Their owner is told what helps, and it does.
    const kept = await attacker.api('PUT', `/sources/${mine.id}`, { configured_props: {} });
    expect([kept.status, kept.body.errors[0].path]).toEqual([400, 'configured_props.token']);
    await attacker.api('PUT', `/sources/${mine.id}`, { configured_props: { token: 'set-anew' } });
    expect((await world.run(mine.id)).events).toEqual([{ length: 8 }]);
  });
});
