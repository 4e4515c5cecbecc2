import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { endRefreshLease, leaseRefresh, recordHealth } from '../../../engine/src/connections/connected-accounts.sql.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { addLoopbackApp, connect, type OAuthServer, startOAuthServer } from '../../support/oauth-server.ts';
import { makeDue } from '../../support/token-clock.ts';

let headwater: Headwater;
let provider: OAuthServer;

beforeAll(async () => {
  headwater = await startHeadwater();
  provider = await startOAuthServer({ redirectUri: `${headwater.url}/oauth/callback` });
  await addLoopbackApp(headwater, provider);
});
afterAll(async () => {
  await provider.stop();
  await headwater.stop();
});
beforeEach(() => {
  Object.assign(provider, { denies: false, fails: undefined, lifetimeSeconds: 3600 });
  provider.requests.length = 0;
});

const credentialsOf = (id: string) => headwater.api('GET', `/accounts/${id}`, { include_credentials: 1 });
const tokensOf = async (id: string) => {
  const { status, text, data } = await credentialsOf(id);
  if (status !== 200) throw new Error(text);
  return data.credentials as { oauth_access_token: string; oauth_refresh_token: string };
};
const refreshes = () => provider.tokenRequests().filter((body) => body.get('grant_type') === 'refresh_token');
const worksAt = async (token: string) =>
  (await fetch(`${provider.url}/me`, { headers: { authorization: `Bearer ${token}` } })).status === 200;

it('a token is used as long as it is good, and renewed before it ends', async () => {
  const id = await connect(headwater);
  const first = await tokensOf(id);
  expect((await tokensOf(id)).oauth_access_token).toBe(first.oauth_access_token);
  expect(refreshes()).toHaveLength(0);
  const [row] = await headwater.sql`
    select extract(epoch from expires_at - refresh_at)::float8 as lead from connected_accounts where id = ${id}`;
  expect(row?.['lead']).toBeCloseTo(900, 0);

  await makeDue(headwater.sql, id);
  const second = await tokensOf(id);
  expect(second.oauth_access_token).not.toBe(first.oauth_access_token);
  expect(second.oauth_refresh_token).not.toBe(first.oauth_refresh_token);
  expect(refreshes().map((body) => body.get('refresh_token'))).toEqual([first.oauth_refresh_token]);
  expect(await worksAt(second.oauth_access_token)).toBe(true);
  // A refresh keeps values that the answer does not repeat.
  expect(second).toMatchObject({ oauth_uid: 'user-1', plan: 'gold' });
});

it('a token that lives for seconds is renewed by the clock', async () => {
  provider.lifetimeSeconds = 2;
  const id = await connect(headwater);
  const first = await tokensOf(id);
  const renewed = await eventually(async () => {
    const tokens = await tokensOf(id);
    return tokens.oauth_access_token !== first.oauth_access_token && tokens;
  });
  expect(renewed.oauth_access_token).not.toBe(first.oauth_access_token);
});

it('a new token is not lost where the database is away as it is stored', async () => {
  const id = await connect(headwater);
  const first = await tokensOf(id);
  await makeDue(headwater.sql, id, { expired: true });
  await headwater.sql.unsafe(`
    create sequence away;
    create function be_away() returns trigger language plpgsql as $$ begin
      if nextval('away') <= 2 then raise 'away' using errcode = '53300'; end if;
      return new;
    end $$;
    create trigger be_away before update on connected_accounts for each row
      when (new.version <> old.version) execute function be_away();`);
  try {
    const second = await tokensOf(id);
    expect(second.oauth_refresh_token).not.toBe(first.oauth_refresh_token);
    expect(await worksAt(second.oauth_access_token)).toBe(true);
    expect(refreshes()).toHaveLength(1);
  } finally {
    await headwater.sql.unsafe('drop trigger be_away on connected_accounts; drop function be_away; drop sequence away');
  }
});

it('a refresh that took longer than its lease does not end the lease of the next one', async () => {
  const id = await connect(headwater);
  const { sql } = headwater;
  const [row] = await sql<{ account_id: string; version: number }[]>`
    select account_id, version from connected_accounts where id = ${id}`;
  const { account_id: accountId, version } = row!;
  const lease = async (seconds: number) => ({
    version,
    until: (await leaseRefresh(sql, accountId, id, { version, seconds }))!,
  });
  const first = await lease(0);
  const second = await lease(60);
  await endRefreshLease(sql, accountId, id, first);
  // Nor does a check of the credentials at the provider meanwhile.
  await recordHealth(sql, accountId, id, { version, state: 'healthy', reason: null, isCheck: true });
  expect(await leaseRefresh(sql, accountId, id, { version, seconds: 60 })).toBeUndefined();
  await endRefreshLease(sql, accountId, id, second);
  expect(await leaseRefresh(sql, accountId, id, { version, seconds: 60 })).toBeDefined();
});

it('a token that has ended before it arrives is renewed once for each caller, not again and again', async () => {
  const id = await connect(headwater);
  await makeDue(headwater.sql, id, { expired: true });
  provider.fails = { path: '/token', status: 200, body: '{"access_token":"short-lived","expires_in":0.000001}' };
  expect((await tokensOf(id)).oauth_access_token).toBe('short-lived');
  expect(refreshes()).toHaveLength(1);
  expect((await tokensOf(id)).oauth_access_token).toBe('short-lived');
  expect(refreshes()).toHaveLength(2);
});

it('a limit that a provider goes over is named where its token is asked for', async () => {
  const id = await connect(headwater);
  await makeDue(headwater.sql, id, { expired: true });
  provider.fails = { path: '/token', status: 200, body: ' '.repeat(300_000) };
  const large = await credentialsOf(id);
  expect([large.status, JSON.parse(large.text)]).toMatchObject([
    422,
    {
      detail: expect.stringContaining('(maxProviderAnswerBytes)'),
      limit: { name: 'maxProviderAnswerBytes', value: 262_144 },
    },
  ]);
  // It may answer less the next time; a token that is too long would be so again.
  expect((await headwater.api('GET', `/accounts/${id}`)).data.dead).toBe(false);
  provider.fails = { path: '/token', status: 200, body: `{"access_token":"${'x'.repeat(16_385)}"}` };
  const long = await credentialsOf(id);
  expect([long.status, JSON.parse(long.text)]).toMatchObject([
    422,
    { limit: { name: 'maxOAuthTokenChars', value: 16_384, used: 16_385 } },
  ]);
  const asked = refreshes().length;
  expect((await headwater.api('GET', `/accounts/${id}`)).data).toMatchObject({
    dead: true,
    error: expect.stringContaining('maxOAuthTokenChars'),
  });
  expect((await credentialsOf(id)).status).toBe(422);
  expect(refreshes()).toHaveLength(asked);
});

it('many callers at once cause one refresh, and rotated refresh tokens stay in order', async () => {
  const id = await connect(headwater);
  for (let round = 1; round <= 3; round++) {
    await makeDue(headwater.sql, id, { expired: true });
    const all = await Promise.all(Array.from({ length: 20 }, () => tokensOf(id)));
    expect(new Set(all.map((tokens) => tokens.oauth_access_token)).size).toBe(1);
    expect(refreshes()).toHaveLength(round);
    expect(await worksAt(all[0]?.oauth_access_token ?? '')).toBe(true);
  }
});

it('a provider that is away costs nothing while the old token lives, and a clear error after', async () => {
  const id = await connect(headwater);
  const first = await tokensOf(id);
  provider.fails = { path: '/token', status: 503, body: '' };
  await makeDue(headwater.sql, id);
  expect((await tokensOf(id)).oauth_access_token).toBe(first.oauth_access_token);
  await makeDue(headwater.sql, id, { expired: true });
  const answer = await credentialsOf(id);
  expect(answer.status).toBe(422);
  expect(JSON.parse(answer.text)).toMatchObject({
    type: 'urn:headwater:error:auth-failed',
    detail: expect.stringContaining('answered 503'),
  });
  expect((await headwater.api('GET', `/accounts/${id}`)).data).toMatchObject({ dead: false, error: null });
  provider.fails = undefined;
  expect((await tokensOf(id)).oauth_access_token).not.toBe(first.oauth_access_token);
});

it('a refused refresh makes the account dead with the reason, and the provider is not asked again', async () => {
  const id = await connect(headwater);
  provider.revokeAll();
  await makeDue(headwater.sql, id);
  const answer = await credentialsOf(id);
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('has to be connected again')]);
  const { data } = await headwater.api('GET', `/accounts/${id}`);
  expect(data).toMatchObject({ healthy: false, dead: true, error: expect.stringContaining('400: invalid_grant') });
  const asked = refreshes().length;
  await credentialsOf(id);
  expect(refreshes()).toHaveLength(asked);

  expect(await connect(headwater, { connected_account_id: id })).toBe(id);
  expect((await headwater.api('GET', `/accounts/${id}`)).data).toMatchObject({ dead: false, error: null });
  expect(await worksAt((await tokensOf(id)).oauth_access_token)).toBe(true);
});

it('a client that the provider does not know any more does not make accounts dead', async () => {
  const id = await connect(headwater);
  await makeDue(headwater.sql, id, { expired: true });
  const client = { client_id: provider.clientId, client_secret: 'another-secret' };
  await headwater.admin('PUT', '/apps/loopback/oauth_client', client);
  const answer = await credentialsOf(id);
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('invalid_client')]);
  expect((await headwater.api('GET', `/accounts/${id}`)).data.dead).toBe(false);
  await headwater.admin('PUT', '/apps/loopback/oauth_client', { ...client, client_secret: provider.clientSecret });
  expect(await worksAt((await tokensOf(id)).oauth_access_token)).toBe(true);
});

it('an expired token without a refresh token makes the account dead', async () => {
  const id = await connect(headwater, { scopes: ['openid'] });
  const first = await tokensOf(id);
  expect(first.oauth_refresh_token).toBeUndefined();
  await makeDue(headwater.sql, id, { expired: true });
  expect((await credentialsOf(id)).text).toContain('the provider gave no refresh token');
  expect((await headwater.api('GET', `/accounts/${id}`)).data).toMatchObject({ dead: true });
});

it('a check asks the provider, with a new token where the old one is refused', async () => {
  const id = await connect(headwater);
  const check = () => headwater.api('POST', `/connected_accounts/${id}/check`);
  const { data } = await check();
  expect(data).toMatchObject({ healthy: true, check: { conclusive: true, detail: expect.stringContaining('200') } });
  expect(data.last_checked_at).toBeGreaterThan(0);

  provider.fails = { path: '/me', status: 500, body: '' };
  expect((await check()).data).toMatchObject({ healthy: true, check: { conclusive: false } });
  provider.fails = { path: '/me', status: 401, body: '' };
  expect((await check()).data).toMatchObject({ dead: true, error: expect.stringContaining('answered 401') });
  expect(refreshes()).toHaveLength(1);
  // A check that succeeds revives a dead account.
  provider.fails = undefined;
  expect((await check()).data).toMatchObject({ healthy: true, dead: false, error: null });

  provider.revokeAll();
  expect((await check()).data).toMatchObject({ dead: true, error: expect.stringContaining('invalid_grant') });
});

it('deleting ends the tokens at the provider, and reports their state', async () => {
  const id = await connect(headwater);
  const { oauth_access_token: token } = await tokensOf(id);
  const deleted = await headwater.api('DELETE', `/connected_accounts/${id}`);
  expect(deleted.data).toEqual({ id, revocation: { status: 'revoked', detail: expect.stringContaining('200') } });
  expect(await worksAt(token)).toBe(false);
  expect((await headwater.api('GET', `/connected_accounts/${id}`)).status).toBe(404);
  expect((await credentialsOf(id)).status).toBe(404);
  const [row] = await headwater.sql`select credentials, revocation from connected_accounts where id = ${id}`;
  expect(row).toEqual({ credentials: null, revocation: expect.stringMatching(/^revoked: /) });

  const other = await connect(headwater);
  provider.fails = { path: '/token/revocation', status: 500, body: '' };
  const failed = await headwater.api('DELETE', `/accounts/${other}`);
  expect(failed.data.revocation.status).toBe('failed');
  expect((await headwater.api('GET', `/accounts/${other}`)).status).toBe(404);
});
