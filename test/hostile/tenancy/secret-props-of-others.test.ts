// tenancy: Reading a secret prop of the neighbour's: in its source, in lists, through a copy of its sealed value.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { OWNED } from '../../support/hostile-tenancy.ts';

const world = hostile();
const SECRET = 'sk_live_neighbour_0123456789';

it('neither the owner nor anyone else is shown it, and its sealed form opens for no other account', async () => {
  const { attacker, neighbour, sql } = world;
  const source = await neighbour.deploy(OWNED, { token: SECRET });
  const [row] = await sql<{ props: { token: unknown } }[]>`
    select configured_props as props from sources where id = ${source.id}`;
  const sealed = row?.props.token;
  expect(JSON.stringify(sealed)).not.toContain(SECRET);
  await world.unharmed(async () => {
    const shown = await Promise.all(
      [`/sources/${source.id}`, '/sources', '/users/me', '/components/owned'].map((path) => attacker.api('GET', path)),
    );
    expect(shown.map(({ text }) => text).join()).not.toContain(SECRET);
    expect((await neighbour.api('GET', `/sources/${source.id}`)).text).not.toContain(SECRET);
    const code = `export default { name: 'Copy', version: '1', props: { token: { type: 'string', secret: true } },
      run() { this.$emit(this.token); } };`;
    // Simulates a leak. A sealed value is bound to its account, and from outside it is ordinary
    // text.
    for (const token of [JSON.stringify(sealed), sealed]) {
      const copy = await attacker.api('POST', '/sources', { component_code: code, configured_props: { token } });
      if (copy.status !== 200) continue;
      const ran = await world.run(copy.body.data.id as string);
      expect(JSON.stringify(ran)).not.toContain(SECRET);
    }
  });
});
