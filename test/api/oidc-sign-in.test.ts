import { generateKeyPairSync } from 'node:crypto';
import { SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { makeMember, newEmail, PASSWORD, signIn } from '../support/members.ts';
import { browse, type OAuthServer, startOAuthServer } from '../support/oauth-server.ts';

let provider: OAuthServer;
let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater({
    async oidc(url) {
      provider = await startOAuthServer({ redirectUri: `${url}/oauth/sign-in/callback` });
      const { url: issuer, clientId, clientSecret } = provider;
      return { issuer, clientId, clientSecret, name: 'Example login', emailDomains: ['example.com'] };
    },
  });
});
afterAll(async () => {
  await hw.stop();
  await provider.stop();
});
beforeEach(() => {
  provider.claims = {};
  provider.denies = false;
  provider.fails = undefined;
});

const invite = (to: Headwater, email: string, role: string) => to.api('POST', '/members/invitations', { email, role });

/** Goes through the sign-in as a browser. Answers what the page gets, and a signed request. */
async function enter(claims: Record<string, unknown>, cookies = new Map<string, string>(), from = '/sources') {
  return goThrough(`${hw.url}/oauth/sign-in?from=${encodeURIComponent(from)}`, claims, cookies);
}

async function goThrough(start: string, claims: Record<string, unknown>, cookies: Map<string, string>) {
  provider.claims = claims;
  const end = await browse(start, `${hw.url}/sign-in`, cookies);
  const hash = new URLSearchParams(end.hash.slice(1));
  const session = hash.get('session') ?? '';
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(`${hw.url}/v1${path}`, {
      headers: { cookie, 'x-headwater-session': session, ...headers },
    });
    return { status: answer.status, data: ((await answer.json()) as { data: Record<string, unknown> }).data };
  };
  return { hash, get };
}

const tokenOf = (invited: { data: { link: string } }) => invited.data.link.split('token=')[1] ?? '';

/** As the page of an invitation begins it. */
async function begin(token: string, cookies: Map<string, string>) {
  const answer = await fetch(`${hw.url}/v1/session/invitation/oidc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  for (const cookie of answer.headers.getSetCookie()) {
    const [name = '', value = ''] = (cookie.split(';', 1)[0] ?? '').split('=', 2);
    cookies.set(name, value);
  }
  return { status: answer.status, body: (await answer.json()) as { data: { url: string }; detail?: string } };
}

async function enterInvited(token: string, claims: Record<string, unknown>) {
  const cookies = new Map<string, string>();
  const { body } = await begin(token, cookies);
  return goThrough(body.data.url, claims, cookies);
}

test('a sign-in from an invitation joins its account and no other, and needs no password', async () => {
  const email = newEmail();
  const second = await hw.newAccount();
  const invited = await invite(hw, email, 'developer');
  await invite(second, email, 'viewer');
  const methods = await (await fetch(`${hw.url}/v1/session/methods`)).json();
  expect(methods).toEqual({ data: { passkey: false, password_reset: false, oidc: { name: 'Example login' } } });
  const claims = { email: email.toUpperCase(), email_verified: true, name: 'Ada Lovelace' };
  // Without the link nobody joins: any account may invite any address.
  expect((await enter(claims)).hash.toString()).toBe('refused=not_invited');
  const { hash, get } = await enterInvited(tokenOf(invited), claims);
  expect([hash.get('from'), hash.get('account')]).toEqual(['/', hw.accountId]);
  const { data } = await get('/session');
  expect(data).toMatchObject({ username: 'Ada Lovelace', member: { email, role: 'developer' } });
  expect((data['member'] as { accounts: unknown[] }).accounts).toHaveLength(1);
  expect((await get('/users/me')).data).toMatchObject({ email });
  expect((await signIn(hw, email, '')).status).toBe(401);
  const { data: entries } = await hw.api('GET', '/audit', { action: 'acceptInvitation' });
  expect(entries[0]).toMatchObject({ actor_name: email, after: { role: 'developer' } });
  // The same person again, who is invited elsewhere and has not accepted.
  const again = await hw.sql.begin(async (tx) => {
    // A sign-in without an invitation has no entry to wait for.
    await tx`lock table audit_log in exclusive mode`;
    return enter({ email, email_verified: true });
  });
  expect(again.hash.get('from')).toBe('/sources');
  expect(((await again.get('/session')).data['member'] as { accounts: unknown[] }).accounts).toHaveLength(1);
  expect((await hw.api('GET', '/members/invitations')).data).toEqual([]);
  expect((await second.api('GET', '/members/invitations')).data).toHaveLength(1);
  const asked = new URLSearchParams(provider.requests.find(({ path }) => path === '/token')?.body);
  expect(asked.get('code_verifier')).toMatch(/^[\w-]{43}$/);
});

test('a person who is known accepts with the link of another account, once', async () => {
  const email = newEmail();
  await makeMember(hw, email, 'viewer');
  const second = await hw.newAccount();
  const token = tokenOf(await invite(second, email, 'admin'));
  const claims = { email, email_verified: true };
  const [first, late] = [new Map<string, string>(), new Map<string, string>()];
  const [one, two] = [await begin(token, first), await begin(token, late)];
  const { get } = await goThrough(one.body.data.url, claims, first);
  const { data } = await get('/session', { 'x-headwater-account': second.accountId });
  expect(data).toMatchObject({ member: { email, role: 'admin' } });
  const ended = await goThrough(two.body.data.url, claims, late);
  expect(ended.hash.toString()).toBe('refused=invitation_ended');
  const { status, body } = await begin(token, new Map());
  expect([status, body.detail]).toEqual([404, expect.stringContaining('was used or revoked')]);
});

test('an invitation is accepted with its own address alone', async () => {
  const email = newEmail();
  const token = tokenOf(await invite(hw, newEmail(), 'viewer'));
  const { hash } = await enterInvited(token, { email, email_verified: true });
  expect(hash.toString()).toBe('refused=other_address');
  expect(await hw.sql`select from people where email = ${email}`).toHaveLength(0);
  expect((await begin(token, new Map())).status).toBe(200);
});

test('a person made with the address of another is taken over by its owner', async () => {
  const email = newEmail();
  const squatter = await makeMember(hw, email, 'viewer');
  await hw.sql`
    insert into passkeys (id, person_id, credential_id, public_key, sign_count, transports, name, is_backed_up)
    select 'psk_of_squatter', id, '\\x01', '\\x01', 0, '{}', 'Squatter', false from people where email = ${email}`;
  const { get } = await enter({ email, email_verified: true });
  expect((await get('/session')).data).toMatchObject({ member: { email, role: 'viewer' } });
  expect(await hw.sql`select from passkeys`).toHaveLength(0);
  expect((await squatter.api('GET', '/users/me')).status).toBe(401);
  expect((await signIn(hw, email, PASSWORD)).status).toBe(401);
});

test('each refusal says why, and begins no session', async () => {
  const [invited, unverified] = [newEmail(), newEmail()];
  await invite(hw, invited, 'viewer');
  await invite(hw, unverified, 'viewer');
  const of = async (claims: Record<string, unknown>) => (await enter(claims)).hash.toString();
  expect(await of({ email: newEmail(), email_verified: true })).toBe('refused=not_invited');
  for (const is of [false, 'true', undefined])
    expect(await of({ email: unverified, email_verified: is })).toBe('refused=unverified');
  expect(await of({ email: 'ada@elsewhere.example', email_verified: true })).toBe('refused=domain');
  expect(await of({ email: `${invited}@elsewhere.example`, email_verified: true })).toBe('refused=domain');
  provider.denies = true;
  expect(await of({ email: invited, email_verified: true })).toBe('refused=denied');
  expect(await hw.sql`select from people where email in (${invited}, ${unverified})`).toHaveLength(0);
});

test('a callback of another browser, a replayed one and a link with an address of its own make no session', async () => {
  const email = newEmail();
  await makeMember(hw, email, 'viewer');
  provider.claims = { email, email_verified: true };
  const cookies = new Map<string, string>();
  const callback = await browse(`${hw.url}/oauth/sign-in`, `${hw.url}/oauth/sign-in/callback`, cookies);
  const open = async (url: string, cookie: string) => {
    const { headers } = await fetch(url, { redirect: 'manual', headers: { cookie } });
    return new URL(headers.get('location') ?? '').hash;
  };
  const flow = `hw_oidc=${cookies.get('hw_oidc')}`;
  expect(await open(callback.href, '')).toBe('#refused=expired');
  expect(await open(callback.href, 'hw_oidc=made-up')).toBe('#refused=expired');
  expect(await open(callback.href.replace(/state=[\w-]+/, 'state=x'), flow)).toBe('#refused=expired');
  expect(await open(callback.href, flow)).toMatch(/^#session=\w{16}&from=%2F$/);
  expect(await open(callback.href, flow)).toBe('#refused=failed');
  const { hash } = await enter({ email, email_verified: true }, new Map(), '//evil.example/');
  expect(hash.get('from')).toBe('/');
});

test('an id_token that is not the provider’s, for this client and this sign-in is refused', async () => {
  const email = newEmail();
  await makeMember(hw, email, 'viewer');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const claims = { email, email_verified: true, nonce: 'x' };
  const forged = new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: 'one' })
    .setIssuer(provider.url)
    .setAudience(provider.clientId)
    .setSubject('user-1')
    .setIssuedAt()
    .setExpirationTime('1h');
  const unsigned = new UnsecuredJWT(claims).setIssuer(provider.url).setAudience(provider.clientId).setSubject('user-1');
  const tokens = [
    await forged.sign(privateKey),
    unsigned.setIssuedAt().setExpirationTime('1h').encode(),
    'x',
    undefined,
  ];
  for (const token of tokens) {
    provider.fails = { path: '/token', status: 200, body: JSON.stringify({ id_token: token, access_token: 'x' }) };
    expect((await enter({ email, email_verified: true })).hash.toString()).toBe('refused=failed');
  }
  provider.fails = { path: '/token', status: 500, body: 'no' };
  expect((await enter({ email, email_verified: true })).hash.toString()).toBe('refused=failed');
});

test('without a provider there is nothing to begin', async () => {
  const plain = await startHeadwater();
  expect((await fetch(`${plain.url}/oauth/sign-in`, { redirect: 'manual' })).status).toBe(404);
  await plain.stop();
});
