import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { addLoopbackApp, authorize, connect, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';

let headwater: Headwater;
let provider: OAuthServer;

beforeAll(async () => {
  headwater = await startHeadwater({ oauthRedirectOrigins: ['https://app.example.com'] });
  provider = await startOAuthServer({ redirectUri: `${headwater.url}/oauth/callback` });
  await addLoopbackApp(headwater, provider);
});
afterAll(async () => {
  await provider.stop();
  await headwater.stop();
});
beforeEach(() => {
  Object.assign(provider, { denies: false, fails: undefined, lifetimeSeconds: 3600 });
});

const accountsOf = async () =>
  (await headwater.api('GET', '/connected_accounts', { limit: 100 })).data as { id: string }[];

it('a flow ends in a connected account whose tokens work at the provider', async () => {
  const id = await connect(headwater, { name: 'Mine' });
  const { data } = await headwater.api('GET', `/connected_accounts/${id}`);
  expect(data).toMatchObject({
    id,
    name: 'Mine',
    app: { name_slug: 'loopback', auth_type: 'oauth2' },
    oauth_uid: 'user-1',
    healthy: true,
    dead: false,
    error: null,
    scopes: ['openid', 'offline_access'],
  });
  expect(data.credentials).toBeUndefined();
  expect(data.expires_at).toBeGreaterThan(data.created_at + 3500);
  for (const path of [`/connected_accounts/${id}`, `/accounts/${id}`]) {
    const { credentials } = (await headwater.api('GET', path, { include_credentials: 1 })).data;
    expect(credentials).toEqual({
      oauth_access_token: expect.any(String),
      oauth_refresh_token: expect.any(String),
      oauth_client_id: provider.clientId,
      oauth_uid: 'user-1',
      plan: 'gold',
      subject: 'user-1',
    });
    const me = await fetch(`${provider.url}/me`, {
      headers: { authorization: `Bearer ${credentials.oauth_access_token}` },
    });
    expect([me.status, await me.json()]).toEqual([200, { sub: 'user-1', plan: 'gold' }]);
  }
});

it('a flow that connected an account is in the audit log, and a flow that failed is not', async () => {
  const id = await connect(headwater, {});
  const { data: made } = await headwater.api('GET', '/audit', { thing: id });
  expect(made).toMatchObject([{ action: 'finishOAuthFlow', outcome: 'made', after: { app: 'loopback' } }]);
  const { data: all } = await headwater.api('GET', '/audit', { action: 'finishOAuthFlow', limit: 100 });
  const count = all.length;
  provider.denies = true;
  expect((await fetch(await authorize(headwater))).status).toBe(400);
  const { data: after } = await headwater.api('GET', '/audit', { action: 'finishOAuthFlow', limit: 100 });
  expect(after).toHaveLength(count);
});

it('the flow is a code flow with PKCE, an unguessable state and this server’s redirect URI', async () => {
  const started = await headwater.api('POST', '/connected_accounts/oauth/start', {
    app: 'loopback',
    scopes: ['openid'],
  });
  const url = new URL(started.data.authorize_url);
  expect(url.origin + url.pathname).toBe(`${provider.url}/auth`);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: 'code',
    client_id: provider.clientId,
    redirect_uri: `${headwater.url}/oauth/callback`,
    scope: 'openid',
    prompt: 'consent',
    state: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  const now = Date.now() / 1000;
  expect(started.data.expires_at - now).toBeGreaterThan(590);
  await connect(headwater);
  const [exchange] = provider.tokenRequests().slice(-1);
  expect(exchange?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
  expect(exchange?.get('redirect_uri')).toBe(`${headwater.url}/oauth/callback`);
});

it('a refusal of the provider is shown in its words as escaped text', async () => {
  const before = await accountsOf();
  provider.denies = true;
  const page = await fetch(await authorize(headwater));
  const text = await page.text();
  expect(page.status).toBe(400);
  expect(text).toContain('Loopback answered: access_denied: The user said no &lt;b&gt;loudly&lt;/b&gt;');
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');

  provider.denies = false;
  const callback = await authorize(headwater);
  provider.fails = { path: '/token', status: 400, body: '{"error":"invalid_grant","error_description":"too late"}' };
  const late = await fetch(callback);
  expect([late.status, await late.text()]).toEqual([400, expect.stringContaining('400: invalid_grant, too late')]);
  expect(await accountsOf()).toEqual(before);
});

it('a provider that is away, or talks nonsense, is said to', async () => {
  for (const [status, body] of [
    [503, '<html>'],
    [200, 'no json'],
    [200, '{"token_type":"bearer"}'],
    [200, '[]'],
  ] as const) {
    const callback = await authorize(headwater);
    provider.fails = { path: '/token', status, body };
    const page = await fetch(callback);
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining(`answered ${status}`)]);
    provider.fails = undefined;
  }
});

it('the browser goes where the flow said, and is told how it went', async () => {
  const end = async (input: Record<string, unknown>) => {
    const response = await fetch(await authorize(headwater, input), { redirect: 'manual' });
    return [response.status, new URL(response.headers.get('location') ?? 'none:')] as const;
  };
  const [status, own] = await end({ redirect: '/done?from=here#part' });
  expect([status, own.origin, own.pathname, own.hash]).toEqual([303, headwater.url, '/done', '#part']);
  expect(Object.fromEntries(own.searchParams)).toEqual({
    from: 'here',
    app: 'loopback',
    connected_account_id: expect.stringMatching(/^apn_/),
  });
  const [, local] = await end({ redirect: 'http://localhost:4455/cb' });
  expect(local.origin).toBe('http://localhost:4455');
  const [, allowed] = await end({ redirect: 'https://app.example.com/cb' });
  expect(allowed.searchParams.get('connected_account_id')).toMatch(/^apn_/);
  provider.denies = true;
  const [, refused] = await end({ redirect: '/done' });
  expect(Object.fromEntries(refused.searchParams)).toEqual({
    app: 'loopback',
    error: expect.stringContaining('access_denied'),
  });
});

it('an account is connected again under the same id', async () => {
  const id = await connect(headwater);
  const before = (await headwater.api('GET', `/accounts/${id}`, { include_credentials: 1 })).data.credentials;
  expect(await connect(headwater, { connected_account_id: id })).toBe(id);
  const after = (await headwater.api('GET', `/accounts/${id}`, { include_credentials: 1 })).data.credentials;
  expect(after.oauth_access_token).not.toBe(before.oauth_access_token);
});

it('an account’s own client is used before the operator’s', async () => {
  const other = await startOAuthServer({ redirectUri: `${headwater.url}/oauth/callback` });
  await headwater.admin('POST', '/apps', { name_slug: 'elsewhere', ...other.app() });
  const without = await headwater.api('POST', '/connected_accounts/oauth/start', { app: 'elsewhere' });
  expect([without.status, without.text]).toEqual([
    409,
    expect.stringContaining('There is no OAuth client for Loopback'),
  ]);
  const client = { client_id: other.clientId, client_secret: other.clientSecret };
  const set = await headwater.api('PUT', '/users/me/oauth_clients/elsewhere', client);
  expect(set.data).toMatchObject({ app: { name_slug: 'elsewhere' }, client_id: other.clientId, has_secret: true });
  expect(set.text).not.toContain(other.clientSecret);
  expect((await headwater.api('GET', '/users/me/oauth_clients')).data).toHaveLength(1);
  expect((await headwater.api('GET', '/apps/elsewhere')).data.oauth_client).toBe('own');
  await headwater.admin('PUT', '/apps/elsewhere/oauth_client', { client_id: 'wrong', client_secret: 'wrong' });
  expect(await connect(headwater, { app: 'elsewhere' })).toMatch(/^apn_/);
  expect((await headwater.api('DELETE', '/users/me/oauth_clients/elsewhere')).status).toBe(204);
  expect((await headwater.api('GET', '/apps/elsewhere')).data.oauth_client).toBe('instance');
  await other.stop();
});

it("a wrong input of a flow's start is named", async () => {
  const start = async (input: Record<string, unknown>) => {
    const answer = await headwater.api('POST', '/connected_accounts/oauth/start', input);
    const { errors = [] } = JSON.parse(answer.text) as { errors?: { path: string }[] };
    return [answer.status, errors.map(({ path }) => path)];
  };
  expect(await start({})).toEqual([400, ['app']]);
  expect(await start({ app: 'nothing-of-this-name' })).toEqual([400, ['app']]);
  expect(await start({ app: 'stripe' })).toEqual([400, ['app']]);
  expect(await start({ app: 'loopback', scopes: ['a b'], redirect: 'https://evil.example' })).toEqual([
    400,
    ['scopes', 'redirect'],
  ]);
  // Loopback in 610 characters. No real host is that long, and non-ASCII letters would block the
  // thread during parsing.
  expect(await start({ app: 'loopback', redirect: `http://0x${'0'.repeat(600)}7f000001/cb` })).toEqual([
    400,
    ['redirect'],
  ]);
  expect(await start({ app: 'loopback', fields: { unknown: 'x' } })).toEqual([400, ['fields.unknown']]);
  expect(await start({ app: 'loopback', connected_account_id: 'apn_none' })).toEqual([404, []]);
});
