import { describe, expect, it } from 'vitest';
import { readSealedKeyUse } from '../../../engine/src/secrets/read-sealed-values.sql.ts';
import { announcePackages } from '../../support/hostile-registry.ts';
import { comparable, OWNED } from '../../support/hostile-tenancy.ts';
import { hostile } from '../../support/hostile.ts';
import { startPackageRegistry } from '../../support/package-registry.ts';
import type { ApiAnswer } from '../../support/server.ts';
import { echo } from '../../support/workflow-steps.ts';

// tenancy: The names of the neighbour's environment variables, in every route and in the props of
// steps.
describe('environment-of-others', () => {
  const world = hostile({ ownAccounts: true });

  it('are answered like unknown names, and the variables stay as they were', async () => {
    const { attacker, neighbour, sql } = world;
    await neighbour.api('PUT', '/environment_variables/THEIRS', { value: 'secret-of-the-neighbour' });
    const [{ id: accountId }] = (await neighbour.api('GET', '/users/me')).body.data.orgs as [{ id: string }];
    const stored = () => sql`select name, value from environment_variables where account_id = ${accountId}`;
    const before = await stored();
    await world.unharmed(async () => {
      for (const method of ['GET', 'DELETE'] as const) {
        const foreign = await attacker.api(method, '/environment_variables/THEIRS');
        const unknown = await attacker.api(method, '/environment_variables/NOBODYS');
        expect(foreign.status).toBe(404);
        expect(comparable(foreign, 'THEIRS')).toEqual(comparable(unknown, 'NOBODYS'));
      }
      const made = await attacker.api('POST', '/workflows', { steps: [echo('a', { text: '{{env.THEIRS}}' })] });
      expect([made.status, made.text]).toEqual([400, expect.stringContaining('has no environment variable THEIRS')]);
      // One of the same name is the attacker's own.
      await attacker.api('PUT', '/environment_variables/THEIRS', { value: 'own' });
      const listed = await attacker.api('GET', '/environment_variables');
      expect(listed.body.data.map(({ name }: { name: string }) => name)).toEqual(['THEIRS']);
      expect((await attacker.api('DELETE', '/environment_variables/THEIRS')).status).toBe(204);
    });
    expect(await stored()).toEqual(before);
  });
});

// tenancy: Filling in a form with the neighbour's source, component, dynamic props, data store and
// connected account.
describe('forms-of-others', () => {
  const world = hostile({ ownAccounts: true });

  const FORM = `export default { name: 'Form', version: '1',
  props: { token: { type: 'string', secret: true, optional: true }, on: { type: 'boolean', optional: true, reloadProps: true },
    store: { type: 'data_store', optional: true },
    seen: { type: 'string', optional: true, async options() { return [this.token ?? 'none', String(await this.store?.keys())]; } } },
  additionalProps() { return { more: { type: 'string', optional: true, description: this.token ?? 'none' } }; },
  run() {} };`;

  it('each is not found, and nothing of the neighbour is in any answer', async () => {
    const { attacker, neighbour } = world;
    const theirs = (await neighbour.api('POST', '/components', { component_code: FORM })).body.data.id as string;
    const source = await neighbour.deploy(FORM, { token: 'neighbours-token' });
    const store = (await neighbour.api('POST', '/data_stores', { name: 'Theirs' })).body.data.id as string;
    const { dynamic_props: made } = (
      await neighbour.api('POST', `/components/${theirs}/props`, { configured_props: { token: 'neighbours-token' } })
    ).body.data;
    const own = (await attacker.api('POST', '/components', { component_code: FORM })).body.data.id as string;
    await world.unharmed(async () => {
      const ask = (id: string, more: object) =>
        attacker.api('POST', `/components/${id}/configure`, { prop_name: 'seen', ...more });
      const answers = [
        [404, await ask(theirs, {})],
        [404, await attacker.api('POST', `/components/${theirs}/props`, {})],
        [404, await ask(own, { source_id: source.id })],
        [404, await attacker.api('POST', `/components/${own}/props`, { source_id: source.id })],
        [400, await ask(own, { dynamic_props_id: made.id })],
        [400, await ask(own, { configured_props: { store } })],
        [400, await attacker.api('POST', '/sources', { component_id: own, dynamic_props_id: made.id })],
      ] as const;
      for (const [expected, { status, text }] of answers) {
        expect(status).toBe(expected);
        expect(text).not.toContain('neighbours-token');
      }
    });
  });
});

// secrets: Props of sources and steps in the form that secrets are stored in, of a key that no
// node has: one that starts looks for them.
describe('props-in-the-form-of-secrets', () => {
  const world = hostile({ ownAccounts: true });

  const KEY = 'deadbeef0000';
  const FORMS = [`v2.${KEY}.x`, [`v2.${KEY}.x`], { a: `v2.${KEY}.x` }, 1.5, null, true].map(($sealed) => ({ $sealed }));
  const code = (type: string, rest = '') =>
    `export default { name: 'Odd', version: '1', type: '${type}', props: { o: { type: 'object'${rest} } }, run() {} };`;

  it('are refused, and no node is told of the key', async () => {
    const { attacker, sql } = world;
    const answers = await world.unharmed(async () => {
      const all: ApiAnswer[] = [];
      for (const o of FORMS) {
        const props = { configured_props: { o } };
        const inCode = code('source', `, default: ${JSON.stringify(o)}`);
        all.push(
          await attacker.api('POST', '/sources', { component_code: code('source'), ...props }),
          await attacker.api('POST', '/sources', { component_code: inCode }),
          await attacker.api('POST', '/workflows', {
            name: 'Odd',
            steps: [{ namespace: 'a', component_code: code('action'), ...props }],
          }),
        );
      }
      return all;
    });
    for (const { status, body } of answers)
      expect([status, JSON.stringify(body.errors)]).toEqual([
        400,
        expect.stringContaining('The key $sealed is reserved'),
      ]);
    expect(
      (await readSealedKeyUse(sql as Parameters<typeof readSealedKeyUse>[0])).map(({ keyId }) => keyId),
    ).not.toContain(KEY);
  });
});

// tenancy: Reading a secret prop of the neighbour's: in its source, in lists, through a copy of
// its sealed value.
describe('secret-props-of-others', () => {
  const world = hostile({ ownAccounts: true });
  const SECRET = 'sk_live_neighbour_0123456789';

  it('no account is shown it, and its sealed form opens for no other account', async () => {
    const { attacker, neighbour, sql } = world;
    const source = await neighbour.deploy(OWNED, { token: SECRET });
    const [row] = await sql<{ props: { token: unknown } }[]>`
    select configured_props as props from sources where id = ${source.id}`;
    const sealed = row?.props.token;
    expect(JSON.stringify(sealed)).not.toContain(SECRET);
    await world.unharmed(async () => {
      const shown = await Promise.all(
        [`/sources/${source.id}`, '/sources', '/users/me', '/components/owned'].map((path) =>
          attacker.api('GET', path),
        ),
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
});

// tenancy: Saving a piece of code to learn whether the neighbour has it already.
describe('bundle-cache-as-oracle', () => {
  const world = hostile({ ownAccounts: true });
  const CODE = `import harmless from 'harmless';
export default { name: 'Rare', version: '1', run() { this.$emit(harmless); } };`;

  it('code is bundled for each account anew, and the answer says nothing of others', async () => {
    const { attacker, neighbour, sql } = world;
    const registry = await startPackageRegistry();
    registry.add({ name: 'harmless', version: '1.0.0' });
    await announcePackages(registry.url, ['harmless']);
    const theirs = await neighbour.api('POST', '/components', { component_code: CODE });
    const [mine, never] = await world.unharmed(() =>
      Promise.all([
        attacker.api('POST', '/components', { component_code: CODE }),
        attacker.api('POST', '/components', { component_code: CODE.replace('Rare', 'Rarer') }),
      ]),
    );
    expect(Object.keys(mine.body.data as object)).toEqual(Object.keys(never.body.data as object));
    expect(mine.body.data.id).not.toBe(theirs.body.data.id);
    const rows = await sql<{ account_id: string; built_at: Date; created_at: Date }[]>`
    select account_id, built_at, created_at from components
    where code_hash = ${mine.body.data.code_hash as string} and account_id in (${attacker.id}, ${neighbour.id})`;
    expect(new Set(rows.map((row) => row.account_id))).toEqual(new Set([attacker.id, neighbour.id]));
    // A bundle that was used again keeps the time at which it was made.
    const [made] = rows.filter((row) => row.account_id === neighbour.id);
    expect(rows.filter((row) => row.built_at.getTime() === made?.built_at.getTime())).toEqual([made]);
    await registry.stop();
  });
});
