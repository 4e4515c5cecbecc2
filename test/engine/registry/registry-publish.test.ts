import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
/** A second account, with the default limit. */
let guest: Headwater['api'];

beforeAll(async () => {
  hw = await startHeadwater();
  await hw.limit({ maxRegistryVersions: 50 });
  const { data } = await hw.admin('POST', '/accounts', { name: 'Guest' });
  guest = hw.as(data.api_key);
});
afterAll(() => hw?.stop());

const codeOf = (key: string, version: string, extra = '') =>
  `export default { name: 'Of ${key}', key: '${key}', version: '${version}', ${extra} run() { this.$emit('${version}'); } };`;

async function saveAs(api: Headwater['api'], component_code: string): Promise<string> {
  const { status, data, text } = await api('POST', '/components', { component_code });
  if (status !== 200) throw new Error(text);
  return data.id;
}

async function publish(component_code: string, api: Headwater['api'] = hw.api) {
  const id = await saveAs(api, component_code);
  return api('POST', `/components/${id}/publish`, { scope: 'registry' });
}

const inRegistry = (key: string, parameters: Record<string, unknown> = {}, api = guest) =>
  api('GET', `/components/registry/${key}`, parameters);

test('component: key is unique in the registry, and follows <app>-<name>', async () => {
  expect((await publish(codeOf('acme-tell', '1.0.0'))).status).toBe(200);
  for (const key of ['acme', 'Acme-Tell', 'acme.tell-me', 'acme--tell', '-tell', 'acme-']) {
    const refused = await publish(codeOf(key, '1.0.0'));
    expect([key, refused.status, refused.text]).toEqual([key, 400, expect.stringContaining('<app_name_slug>-<name>')]);
  }
  const withApp = "props: { slack: { type: 'app', app: 'slack' } },";
  const wrong = await publish(codeOf('acme-message', '1.0.0', withApp));
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('slack-…')]);
  const right = await publish(codeOf('slack-message', '1.0.0', withApp));
  expect([right.status, (await inRegistry('slack-message')).data.app]).toEqual([200, 'slack']);
});

test('registry: a semantic version is required, and it only grows', async () => {
  for (const version of ['1', 'v1.0.0', '1.0', '01.0.0', '1.0.0-01', 'latest']) {
    const refused = await publish(codeOf('acme-semver', version));
    expect([version, refused.status, refused.text]).toEqual([
      version,
      400,
      expect.stringContaining('semantic version'),
    ]);
  }
  for (const version of ['1.0.0-beta.2', '1.0.0-beta.11', '1.0.0', '1.9.0', '1.10.0'])
    expect([version, (await publish(codeOf('acme-semver', version))).status]).toEqual([version, 200]);
  for (const version of ['1.2.0', '1.10.0-rc', '0.9.0']) {
    const refused = await publish(codeOf('acme-semver', version));
    expect([version, refused.status, refused.text]).toEqual([
      version,
      409,
      expect.stringContaining('not later than 1.10.0'),
    ]);
  }
});

test('registry: everything wrong with key and version is said at once', async () => {
  const { text } = await publish(codeOf('Acme', 'one'));
  const paths = JSON.parse(text).errors.map((field: { path: string }) => field.path);
  expect(paths).toEqual(['key', 'version']);
});

test('registry: versions are kept, the newest is the default, the same code is published once', async () => {
  const first = await publish(codeOf('acme-kept', '1.0.0'));
  expect((await publish(codeOf('acme-kept', '1.0.0'))).data.id).toBe(first.data.id);
  await publish(codeOf('acme-kept', '1.1.0'));
  const newest = await inRegistry('acme-kept');
  expect(newest.data).toMatchObject({ version: '1.1.0', versions: ['1.1.0', '1.0.0'] });
  expect((await inRegistry('acme-kept', { version: '1.0.0' })).data.id).toBe(first.data.id);
  expect((await inRegistry('acme-kept', { version: '2.0.0' })).status).toBe(404);
  const changed = await publish(codeOf('acme-kept', '1.1.0', 'x: 1,'));
  expect([changed.status, changed.text]).toEqual([409, expect.stringContaining('other code')]);
});

test('registry: only an account with the limit, or the operator, publishes', async () => {
  const refused = await publish(codeOf('guest-own', '1.0.0'), guest);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('maxRegistryVersions')]);
  const id = await saveAs(guest, codeOf('guest-own', '1.0.0'));
  expect((await guest('POST', '/registry/components', { component_id: id })).status).toBe(403);
  const added = await hw.admin('POST', '/registry/components', { component_id: id });
  expect([added.status, added.data.key]).toEqual([200, 'guest-own']);
  expect((await inRegistry('guest-own', {}, hw.api)).status).toBe(200);
  expect((await hw.admin('POST', '/registry/components', { component_id: 'sc_none' })).status).toBe(404);
});

test('registry: a component saved or published in an account does not exist for others', async () => {
  const id = await saveAs(hw.api, codeOf('private-one', '1.0.0'));
  await hw.api('POST', `/components/${id}/publish`);
  for (const name of [id, 'private-one']) {
    expect((await guest('GET', `/components/${name}`)).status).toBe(404);
    expect((await inRegistry(name)).status).toBe(404);
    expect((await guest('POST', '/sources', { component_id: name })).status).toBe(404);
    expect((await guest('POST', '/sources', { component_key: name })).status).toBe(404);
  }
  expect((await guest('GET', '/components/registry', { q: 'private-one' })).data).toEqual([]);
});

test('registry: another account deploys by key, and its deployed code stays the same', async () => {
  await publish(codeOf('acme-run', '1.0.0'));
  const run = async (id: string, count: number) => {
    await guest('POST', `/sources/${id}/run`);
    const found = await eventually(async () => {
      const { data } = await guest('GET', `/sources/${id}/event_summaries`);
      return data.length >= count && (data as { event: string }[]);
    });
    return found.map(({ event }) => event);
  };
  const first = await guest('POST', '/sources', { component_key: 'acme-run' });
  const again = await guest('POST', '/sources', { component_key: 'acme-run' });
  expect(again.data.component_id).toBe(first.data.component_id);
  expect(await run(first.data.id, 1)).toEqual(['1.0.0']);
  await publish(codeOf('acme-run', '2.0.0'));
  const second = await guest('POST', '/sources', { component_key: 'acme-run' });
  expect(await run(second.data.id, 1)).toEqual(['2.0.0']);
  for (const version of ['2.0.0', '1.0.0'])
    expect((await hw.api('POST', '/components/acme-run/unpublish', { scope: 'registry', version })).status).toBe(200);
  expect(await run(first.data.id, 2)).toEqual(['1.0.0', '1.0.0']);
  expect((await guest('POST', '/sources', { component_key: 'acme-run' })).status).toBe(404);
  expect((await guest('GET', '/components', { key: 'acme-run' })).data).toEqual([]);
});

test('registry: the account’s own key comes before the registry’s', async () => {
  await publish(codeOf('acme-both', '9.0.0'));
  const own = await saveAs(guest, codeOf('acme-both', '1.0.0'));
  const { data } = await guest('POST', '/sources', { component_key: 'acme-both' });
  expect(data.component_id).toBe(own);
  const { data: others } = await hw.api('POST', '/sources', { component_id: (await inRegistry('acme-both')).data.id });
  expect(others.name).toBe('Of acme-both');
});

test('registry: props of a component of the registry are asked for by its key', async () => {
  const props = "props: { a: { type: 'string', options() { return ['x', 'y']; } } },";
  await publish(codeOf('acme-options', '1.0.0', props));
  const { data } = await guest('POST', '/components/acme-options/configure', { prop_name: 'a' });
  expect(data.options).toEqual([
    { label: 'x', value: 'x' },
    { label: 'y', value: 'y' },
  ]);
});

test('registry: a withdrawn version is gone with its code, the one before is the newest, and its number is never free', async () => {
  await publish(codeOf('acme-back', '1.0.0'));
  await publish(codeOf('acme-back', '1.1.0'));
  const foreign = await guest('POST', '/components/acme-back/unpublish', { scope: 'registry' });
  expect(foreign.status).toBe(403);
  expect((await hw.api('POST', '/components/acme-back/unpublish', { scope: 'registry' })).data.version).toBe('1.1.0');
  expect((await inRegistry('acme-back')).data).toMatchObject({ version: '1.0.0', versions: ['1.0.0'] });
  const rows = await hw.sql<{ code: string; bundle: string }[]>`
    select code, bundle from registry_components where key = 'acme-back' and withdrawn_at is not null`;
  expect([...rows]).toEqual([{ code: '', bundle: '' }]);
  const again = await publish(codeOf('acme-back', '1.1.0'));
  expect([again.status, again.text]).toEqual([409, expect.stringContaining('was withdrawn')]);
  expect((await hw.admin('DELETE', '/registry/components/acme-back')).status).toBe(200);
  expect((await inRegistry('acme-back')).status).toBe(404);
});

test('registry: the URL of a component goes with it', async () => {
  const component_url = 'https://code.example/acme-url.mjs';
  const { data } = await hw.api('POST', '/components', { component_code: codeOf('acme-url', '1.0.0'), component_url });
  await hw.api('POST', `/components/${data.id}/publish`, { scope: 'registry' });
  expect((await inRegistry('acme-url')).data.code_url).toBe(component_url);
});

test('registry: search finds beginnings of words, names before descriptions, by type and app, in pages', async () => {
  const found = async (parameters: Record<string, unknown>) => {
    const { status, data, text } = await guest('GET', '/components/registry', { limit: 100, ...parameters });
    if (status !== 200) throw new Error(text);
    return { keys: data.map((entry: { key: string }) => entry.key), page: JSON.parse(text).page_info };
  };
  await publish(codeOf('zoo-lemur', '1.0.0', "description: 'Feeds a marmoset',"));
  await publish(codeOf('zoo-marmoset', '1.0.0', "type: 'action',"));
  await publish(codeOf('zoo-zebra', '1.0.0', "description: 'Knows the marmoset',"));
  expect((await found({ q: 'marmo' })).keys).toEqual(['zoo-marmoset', 'zoo-lemur', 'zoo-zebra']);
  expect((await found({ q: 'MARMO feed' })).keys).toEqual(['zoo-lemur']);
  expect((await found({ q: 'marmo', type: 'action' })).keys).toEqual(['zoo-marmoset']);
  expect((await found({ q: "marmo & !'lemur:*" })).keys).toEqual(['zoo-lemur']);
  expect((await found({ app: 'zoo' })).keys).toEqual([]);
  const first = await found({ q: 'marmo', limit: 2 });
  expect([first.keys, first.page.total_count]).toEqual([['zoo-marmoset', 'zoo-lemur'], 3]);
  const second = await found({ q: 'marmo', limit: 2, after: first.page.end_cursor });
  expect(second.keys).toEqual(['zoo-zebra']);
  expect((await found({ q: 'marmo', limit: 2, before: second.page.start_cursor })).keys).toEqual(first.keys);
  const { status } = await guest('GET', '/components/registry', { after: 'nonsense' });
  expect(status).toBe(400);
});
