// secrets: An update with code that no longer calls a stored prop secret, to read it back from the API.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const token = 'was-secret-when-it-was-set';
const code = (secret: boolean) => `export default { name: 'Public', version: '1',
  props: { token: { type: 'string', secret: ${secret} }, plain: { type: 'string', default: 'p' } },
  run() { console.log(this.token); } };`;

it('stays sealed, unseen and redacted until it is set anew', async () => {
  const { attacker, sql } = world;
  await world.unharmed(async () => {
    const source = await attacker.deploy(code(true), { token });
    const changed = await attacker.api('PUT', `/sources/${source.id}`, { component_code: code(false) });
    expect([changed.status, changed.body.data.configured_props]).toEqual([200, { plain: 'p' }]);
    expect((await world.run(source.id)).logs).toEqual(['[secret:token]']);
    const rows = await sql`select configured_props::text as props from sources where id = ${source.id}`;
    expect(rows[0]?.['props']).not.toContain(token);
    const anew = await attacker.api('PUT', `/sources/${source.id}`, { configured_props: { token: 'public-now' } });
    expect(anew.body.data.configured_props).toEqual({ token: 'public-now', plain: 'p' });
  });
});
