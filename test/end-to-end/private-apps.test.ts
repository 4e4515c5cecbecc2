import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { authorize, type OAuthServer, startOAuthServer } from '../support/oauth-server.ts';

let hw: Headwater;
let provider: OAuthServer;
/** Another tenant. */
let other: Headwater['api'];

beforeAll(async () => {
  hw = await startHeadwater();
  provider = await startOAuthServer({ redirectUri: `${hw.url}/oauth/callback` });
  const made = await hw.admin('POST', '/accounts', { name: 'Other' });
  other = hw.as(made.data.api_key);
});
afterAll(async () => {
  await provider.stop();
  await hw.stop();
});

const KEYED = { name: 'Acme', auth_type: 'keys', fields: [{ name: 'api_key', label: 'Key' }] };
const define = (slug: string, more: object = {}, as: Headwater['api'] = hw.api) =>
  as('POST', '/apps', { name_slug: slug, ...KEYED, ...more });

const user = (slug: string) => `export default { name: 'User of ${slug}', version: '1',
  props: { app: { type: 'app', app: '${slug}' } },
  run() { this.$emit({ chars: this.app.$auth.api_key?.length }); } };`;

async function connectKeys(app: string, as: Headwater['api'] = hw.api): Promise<string> {
  const made = await as('POST', '/connected_accounts', { app, credentials: { api_key: 'key-of-the-account' } });
  if (made.status !== 200) throw new Error(made.text);
  return made.data.id as string;
}

describe('an app of an account', () => {
  test('is defined with its key, listed among the others, connected, used and changed', async () => {
    const made = await define('mine');
    expect(made.data).toMatchObject({ name_slug: 'mine', private: true, hides_catalogue: false, oauth_client: null });
    expect((await hw.api('GET', '/apps/mine')).data).toEqual(made.data);
    expect((await hw.api('GET', `/apps/${made.data.id}`)).data).toEqual(made.data);
    const listed = await hw.api('GET', '/apps', { limit: 100, q: 'm' });
    const slugs = (listed.data as { name_slug: string }[]).map(({ name_slug: slug }) => slug);
    expect(slugs).toEqual(slugs.toSorted());
    expect(slugs).toContain('mine');
    expect(slugs).toContain('mailchimp');

    const authProvisionId = await connectKeys('mine');
    const source = await hw.deploy(user('mine'), { app: { authProvisionId } });
    await hw.api('POST', `/sources/${source.id}/run`);
    expect((await hw.untilEvents(source.id, 1))[0]?.event).toEqual({ chars: 18 });
    expect((await hw.api('GET', '/connected_accounts', { app: 'mine' })).data).toMatchObject([{ id: authProvisionId }]);

    // The answer may be sent back, with a change.
    const changed = await hw.api('PUT', '/apps/mine', { ...made.data, name: 'Acme of ours' });
    expect([changed.status, changed.data?.name, changed.data?.private]).toEqual([200, 'Acme of ours', true]);
    expect((await hw.api('PUT', '/apps/mine', { ...made.data, name_slug: 'another' })).status).toBe(400);
  });

  test("with fields that become secret keeps them out of later runs' records", async () => {
    await define('open', { fields: [{ name: 'api_key', label: 'Key', secret: false }] });
    const code = `export default { name: 'Teller', version: '1', props: { app: { type: 'app', app: 'open' } },
      run() { this.$emit(this.app.$auth.api_key); } };`;
    const source = await hw.deploy(code, { app: { authProvisionId: await connectKeys('open') } });
    await hw.api('POST', `/sources/${source.id}/run`);
    await hw.untilEvents(source.id, 1);
    await hw.api('PUT', '/apps/open', KEYED);
    await hw.api('POST', `/sources/${source.id}/run`);
    const events = await hw.untilEvents(source.id, 2);
    expect(events.map(({ event }) => event as string)).toEqual(['key-of-the-account', '[secret:app.api_key]']);
  });

  test('does not exist for another account: it sees, uses, connects and changes none of it', async () => {
    const { data: app } = await define('hidden');
    const provision = await connectKeys('hidden');
    for (const name of ['hidden', app.id, `${hw.accountId}:hidden`]) {
      const path = `/apps/${encodeURIComponent(name)}`;
      expect((await other('GET', path)).status).toBe(404);
      expect((await other('PUT', path, KEYED)).status).toBe(404);
      expect((await other('DELETE', path)).status).toBe(404);
      expect(
        (await other('PUT', `/users/me/oauth_clients/${encodeURIComponent(name)}`, { client_id: 'x' })).status,
      ).toBe(404);
      const keys = await other('POST', '/connected_accounts', { app: name, credentials: { api_key: 'k' } });
      const flow = await other('POST', '/connected_accounts/oauth/start', { app: name });
      expect([keys.status, flow.status]).toEqual([400, 400]);
      expect((await other('GET', '/connected_accounts', { app: name })).status).toBe(400);
      // It is no catalogue app for the operator either: all accounts would use its OAuth client.
      expect((await hw.admin('PUT', `${path}/oauth_client`, { client_id: 'x' })).status).toBe(404);
      expect((await hw.admin('PUT', path, KEYED)).status).toBe(404);
    }
    expect((await other('GET', '/apps', { q: 'hidden' })).data).toEqual([]);
    const deployed = await other('POST', '/sources', {
      component_code: user('hidden'),
      configured_props: { app: { authProvisionId: provision } },
    });
    expect([deployed.status, deployed.text]).toEqual([400, expect.stringContaining('hidden')]);
    expect((await hw.api('GET', '/apps/hidden')).data).toEqual(app);
  });

  test("with the slug of another account's app is a different one", async () => {
    await define('both', { name: 'First' });
    await define('both', { name: 'Second' }, other);
    expect((await hw.api('GET', '/apps/both')).data.name).toBe('First');
    expect((await other('GET', '/apps/both')).data.name).toBe('Second');
    const [mine, theirs] = [await connectKeys('both'), await connectKeys('both', other)];
    const source = await other('POST', '/sources', {
      component_code: user('both'),
      configured_props: { app: { authProvisionId: theirs } },
    });
    expect(source.status).toBe(200);
    const wrong = await other('PUT', `/sources/${source.data.id}`, {
      configured_props: { app: { authProvisionId: mine } },
    });
    expect(wrong.status).toBe(400);
  });

  test('cannot take a slug of the catalogue or a second one of its own, nor change the catalogue', async () => {
    const taken = await define('github');
    expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('The catalogue has an app github')]);
    await define('once');
    expect((await define('once')).status).toBe(409);
    expect((await hw.api('PUT', '/apps/github', KEYED)).status).toBe(403);
    expect((await hw.api('DELETE', '/apps/github')).status).toBe(403);
    const faulty = await define('Wrong Slug', { fields: [] });
    expect([faulty.status, JSON.parse(faulty.text).errors.map(({ path }: { path: string }) => path)]).toEqual([
      400,
      ['slug', 'fields'],
    ]);
  });

  test('hides one that the catalogue gets later, and says so; others get that of the catalogue', async () => {
    await define('later', { name: 'Ours' });
    const authProvisionId = await connectKeys('later');
    expect((await hw.admin('POST', '/apps', { name_slug: 'later', ...KEYED, name: 'Theirs' })).status).toBe(200);
    expect((await hw.api('GET', '/apps/later')).data).toMatchObject({ name: 'Ours', hides_catalogue: true });
    expect((await hw.api('GET', '/apps', { q: 'later' })).data).toMatchObject([
      { name: 'Ours', hides_catalogue: true },
    ]);
    expect((await other('GET', '/apps/later')).data).toMatchObject({ name: 'Theirs', private: false });
    const source = await hw.deploy(user('later'), { app: { authProvisionId } });
    await hw.api('POST', `/sources/${source.id}/run`);
    await hw.untilEvents(source.id, 1);
    await hw.api('DELETE', `/connected_accounts/${authProvisionId}`);
    expect((await hw.api('DELETE', '/apps/later')).status).toBe(204);
    expect((await hw.api('GET', '/apps/later')).data).toMatchObject({ name: 'Theirs', hides_catalogue: false });
  });

  test('is deleted once nothing is connected to it, and with its account', async () => {
    const { data: app } = await define('gone');
    const id = await connectKeys('gone');
    const used = await hw.api('DELETE', '/apps/gone');
    expect([used.status, used.text]).toEqual([409, expect.stringContaining('1 connected account')]);
    await hw.api('DELETE', `/connected_accounts/${id}`);
    expect((await hw.api('DELETE', '/apps/gone')).status).toBe(204);
    expect((await hw.api('GET', `/apps/${app.id}`)).status).toBe(404);

    const third = (await hw.admin('POST', '/accounts', { name: 'Third' })).data;
    const asThird = hw.as(third.api_key);
    await define('third', { ...provider.app(), name_slug: 'third' }, asThird);
    await asThird('PUT', '/users/me/oauth_clients/third', { client_id: 'c', client_secret: 's' });
    expect((await asThird('POST', '/connected_accounts/oauth/start', { app: 'third' })).status).toBe(200);
    await hw.sql`delete from accounts where id = ${third.id}`;
    expect(await hw.sql`select from all_apps where account_id = ${third.id}`).toHaveLength(0);
  });

  test('is one of a bounded number, of a bounded size', async () => {
    const made = await hw.admin('POST', '/accounts', { name: 'Many' });
    const many = hw.as(made.data.api_key);
    await hw.sql`
      insert into all_apps (id, account_id, slug, definition)
      select 'app_many' || n, ${made.data.id}, ${made.data.id} || ':many' || n, ${JSON.stringify({ slug: 'many' })}::text::jsonb
      from generate_series(1, ${LIMITS.maxAccountApps - 1}::int4) as n`;
    expect((await define('last', {}, many)).status).toBe(200);
    const over = await define('over', {}, many);
    const { limit } = JSON.parse(over.text);
    expect([over.status, limit]).toMatchObject([409, { name: 'maxAccountApps', value: 100, used: 101 }]);
    const fields = Array.from({ length: 100 }, (_, n) => ({ name: `f${n}`, label: 'x', description: 'y'.repeat(700) }));
    const large = await define('large', { fields });
    expect([large.status, JSON.parse(large.text).limit]).toMatchObject([
      400,
      { name: 'maxAccountAppBytes', value: 65_536 },
    ]);
  });
});

describe('OAuth with an app of an account', () => {
  test('takes its own client, and its tokens reach its runs', async () => {
    const { data } = await hw.api('POST', '/apps', { name_slug: 'ours', ...provider.app() });
    expect(data).toMatchObject({ private: true, auth_type: 'oauth2' });
    expect((await hw.api('POST', '/connected_accounts/oauth/start', { app: 'ours' })).status).toBe(409);
    const client = { client_id: provider.clientId, client_secret: provider.clientSecret };
    expect((await hw.api('PUT', '/users/me/oauth_clients/ours', client)).status).toBe(200);
    expect((await hw.api('GET', '/users/me/oauth_clients')).data).toMatchObject([{ app: { name_slug: 'ours' } }]);
    const callback = await authorize(hw, { app: 'ours' });
    expect((await fetch(callback)).status).toBe(200);
    const [connected] = (await hw.api('GET', '/connected_accounts', { app: 'ours' })).data;
    const code = `export default { name: 'OAuth', version: '1', props: { app: { type: 'app', app: 'ours' } },
      async run() {
        const headers = { authorization: 'Bearer ' + this.app.$auth.oauth_access_token };
        this.$emit(await (await fetch('${provider.url}/me', { headers })).json());
      } };`;
    const source = await hw.deploy(code, { app: { authProvisionId: connected.id } });
    await hw.api('POST', `/sources/${source.id}/run`);
    expect((await hw.untilEvents(source.id, 1))[0]?.event).toMatchObject({ sub: 'user-1' });
  });

  test('ends where the app is deleted while the flow is under way', async () => {
    await hw.api('POST', '/apps', { name_slug: 'short', ...provider.app() });
    const client = { client_id: provider.clientId, client_secret: provider.clientSecret };
    await hw.api('PUT', '/users/me/oauth_clients/short', client);
    const callback = await authorize(hw, { app: 'short' });
    expect((await hw.api('DELETE', '/apps/short')).status).toBe(204);
    const end = await fetch(callback);
    expect([end.status, await end.text()]).toEqual([400, expect.stringContaining('This link is not known')]);
  });

  // Refused before anything is sent, although loopback is allowed here.
  test.each([
    ['inner-4', 'https://169.254.169.254/token'],
    ['inner-6', 'https://[fd00:ec2::254]/token'],
  ])('asks no address that components could not: %s, %s', async (slug, url) => {
    await hw.api('POST', '/apps', {
      name_slug: slug,
      ...KEYED,
      test: { url, auth: { type: 'bearer', token: '{{api_key}}' } },
    });
    const id = await connectKeys(slug);
    const { data } = await hw.api('POST', `/connected_accounts/${id}/check`);
    expect(data.check).toMatchObject({ conclusive: false, detail: expect.stringContaining('is not a public address') });
    const oauth = provider.app();
    const made = await hw.api('POST', '/apps', {
      name_slug: `${slug}-oauth`,
      ...oauth,
      oauth: { ...(oauth as { oauth: object }).oauth, token_url: url },
    });
    expect(made.status).toBe(200);
    await hw.api('PUT', `/users/me/oauth_clients/${slug}-oauth`, { client_id: provider.clientId, client_secret: 's' });
    const callback = await authorize(hw, { app: `${slug}-oauth` });
    const end = await fetch(callback);
    expect([end.status, await end.text()]).toEqual([400, expect.stringContaining('gave no access')]);
  });

  test.each(['http://10.0.0.1/token', 'file:///etc/passwd', 'https://user:pass@example.com/', 'https://{{api_key}}/'])(
    'has no URL %s',
    async (url) => {
      const oauth = (provider.app() as { oauth: object }).oauth;
      const made = await hw.api('POST', '/apps', {
        name_slug: 'wrong-url',
        ...provider.app(),
        fields: [{ name: 'api_key', label: 'Key' }],
        oauth: { ...oauth, token_url: url },
      });
      expect([made.status, made.text]).toEqual([400, expect.stringContaining('oauth.token_url')]);
    },
  );
});
