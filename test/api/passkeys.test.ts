import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { type Browser, makeMember, PASSWORD, postSession, signIn, tokenOf } from '../support/members.ts';
import { createAuthenticator, type Misbehaviour } from '../support/software-authenticator.ts';

let mail: MailServer;
let hw: Headwater;
beforeAll(async () => {
  mail = await startMailServer();
  hw = await startHeadwater({ host: 'localhost', mail: { smtpUrl: mail.url, from: 'no-reply@example.com' } });
});
afterAll(async () => {
  await hw.stop();
  await mail.stop();
});
// All tests sign in from one address.
beforeEach(async () => {
  await hw.sql`delete from sign_in_turns`;
});

let people = 0;
const newEmail = () => `ada.${people++}@example.com`;
type Authenticator = ReturnType<typeof createAuthenticator>;

const begin = (browser: Browser, parameters = {}) => browser.api('POST', '/users/me/passkeys/options', parameters);

/** Adds a passkey, as a browser does. */
async function add(browser: Browser, wrong: Misbehaviour = {}, authenticator = createAuthenticator(hw.url)) {
  const { data, text } = await begin(browser);
  if (data === undefined) throw new Error(text);
  const response = authenticator.create(data.options, wrong);
  const added = await browser.api('POST', '/users/me/passkeys', { flow: data.flow, name: 'Laptop', response });
  return { ...added, authenticator };
}

/** A browser on the sign-in page. */
async function beginSignIn(cookie = '') {
  const answer = await fetch(`${hw.url}/v1/session/passkey/options`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie },
    body: '{}',
  });
  const { data } = (await answer.json()) as { data: { flow: string; options: { challenge: string } } };
  return { ...data, cookie: answer.headers.get('set-cookie') ?? '' };
}

const nameAndValue = (cookie: string) => cookie.split(';')[0] ?? '';
const finish = (flow: string, response: object, cookie: string) =>
  postSession(hw, '/passkey', { flow, response }, { cookie: nameAndValue(cookie) });

async function enter(authenticator: Authenticator, wrong: Misbehaviour = {}) {
  const { flow, options, cookie } = await beginSignIn();
  return finish(flow, authenticator.get(options, wrong), cookie);
}

const detailOf = ({ text }: { text: string }): string => JSON.parse(text).detail;

test('a member adds a passkey, signs in with it, renames it, and removes it', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'developer');
  const { status, data, authenticator } = await add(member);
  expect([status, data]).toEqual([
    200,
    {
      id: expect.stringMatching(/^psk_/),
      name: 'Laptop',
      is_backed_up: false,
      transports: ['internal', 'hybrid'],
      created_at: expect.any(Number),
      last_used_at: null,
    },
  ]);
  const signedIn = await enter(authenticator);
  expect(signedIn.status).toBe(200);
  expect(signedIn.browser.session).toMatchObject({ role: 'account', member: { email, role: 'developer' } });
  expect((await signedIn.browser.api('GET', '/users/me')).data).toMatchObject({ email });
  const renamed = await member.api('PUT', `/users/me/passkeys/${data.id}`, { name: 'Old laptop' });
  expect(renamed.data).toMatchObject({ name: 'Old laptop', last_used_at: expect.any(Number) });
  expect((await member.api('GET', '/users/me/passkeys')).data).toEqual([renamed.data]);
  expect((await member.api('DELETE', `/users/me/passkeys/${data.id}`)).status).toBe(204);
  expect((await enter(authenticator)).status).toBe(401);
  expect((await member.api('GET', '/users/me/passkeys')).data).toEqual([]);
  const { data: entries } = await hw.api('GET', '/audit');
  const own = entries.filter(({ actor_name: name }: { actor_name: string }) => name === email);
  expect(own.map(({ action, thing }: { action: string; thing: string }) => [action, thing])).toEqual(
    expect.arrayContaining(['addPasskey', 'renamePasskey', 'removePasskey'].map((action) => [action, data.id])),
  );
  expect(own.map(({ action }: { action: string }) => action)).not.toContain('beginPasskey');
});

test('it signs in to the account that the request names', async () => {
  const [home, other] = [await hw.newAccount(), await hw.newAccount()];
  const email = newEmail();
  const { authenticator } = await add(await makeMember(home, email, 'owner'));
  await makeMember(other, email, 'viewer');
  const { browser } = await enter(authenticator);
  expect(browser.session.member.accounts).toHaveLength(2);
  expect((await browser.inAccount(other.accountId)('GET', '/users/me')).data).toMatchObject({ role: 'viewer' });
});

test('options name no passkeys to a stranger, and ask for a verified person', async () => {
  const { options } = await beginSignIn();
  expect(options).toEqual({
    challenge: expect.stringMatching(/^[\w-]{43}$/),
    rpId: 'localhost',
    timeout: 300_000,
    userVerification: 'required',
  });
  const member = await makeMember(hw, newEmail(), 'viewer');
  const { authenticator } = await add(member);
  const { data } = await begin(member);
  expect(data.options).toMatchObject({
    rp: { id: 'localhost', name: 'Headwater' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: [{ id: authenticator.id, type: 'public-key' }],
  });
});

test('what is replayed, of another browser, or made up signs nobody in', async () => {
  const { authenticator } = await add(await makeMember(hw, newEmail(), 'viewer'));
  const { flow, options, cookie } = await beginSignIn();
  expect(cookie).toMatch(/^hw_passkey=\w{40}; Path=\/v1\/session\/passkey; Max-Age=600; HttpOnly; SameSite=Strict$/);
  const second = await beginSignIn(nameAndValue(cookie));
  // Authenticators that do not count say 0: the challenge alone tells a replay.
  const response = authenticator.get(options, { signCount: 99 });
  expect((await finish(flow, response, '')).status).toBe(401);
  expect((await finish(flow, response, `hw_passkey=${'x'.repeat(40)}`)).status).toBe(401);
  expect((await finish(second.flow, response, cookie)).status).toBe(401);
  expect((await finish('made-up', response, cookie)).status).toBe(401);
  expect((await finish(flow, response, cookie)).status).toBe(200);
  expect((await finish(flow, response, cookie)).status).toBe(401);
  await hw.sql`update passkeys set sign_count = 0`;
  expect((await finish(flow, response, cookie)).status).toBe(401);
});

test('two pages of one browser each sign in with the challenge of their own', async () => {
  const { authenticator } = await add(await makeMember(hw, newEmail(), 'viewer'));
  const first = await beginSignIn();
  const second = await beginSignIn(nameAndValue(first.cookie));
  expect(nameAndValue(second.cookie)).toBe(nameAndValue(first.cookie));
  for (const { flow, options } of [first, second])
    expect((await finish(flow, authenticator.get(options), second.cookie)).status).toBe(200);
});

test('each refusal has the same words, and makes no cookie', async () => {
  const { authenticator } = await add(await makeMember(hw, newEmail(), 'viewer'));
  const { authenticator: other } = await add(await makeMember(hw, newEmail(), 'viewer'));
  expect((await enter(authenticator, { signCount: 7 })).status).toBe(200);
  const [row] = await hw.sql<{ handle: string }[]>`
    select person_id as handle from passkeys where credential_id = decode(${Buffer.from(other.id, 'base64url').toString('hex')}, 'hex')`;
  const wrongs: Record<string, Misbehaviour> = {
    'another origin': { origin: 'https://evil.example' },
    'another port': { origin: 'http://localhost:1' },
    'the hash of another name': { rpId: 'evil.example' },
    'nobody was verified': { unverified: true },
    'the key of somebody else': { otherKey: true },
    'the person of another passkey': { userHandle: Buffer.from(row?.handle ?? '').toString('base64url') },
    'a challenge of its own': { challenge: Buffer.alloc(32).toString('base64url') },
    'an answer to create': { type: 'webauthn.create' },
    'a count that goes backwards': { signCount: 6 },
    'a count that stays': { signCount: 7 },
    'a count that was there': { signCount: 0 },
  };
  const answers = [await enter(createAuthenticator(hw.url))];
  for (const wrong of Object.values(wrongs)) answers.push(await enter(authenticator, wrong));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
  expect(new Set(answers.map(detailOf)).size).toBe(1);
  expect(answers.every(({ browser }) => browser.cookie === '')).toBe(true);
  expect((await enter(authenticator, { signCount: 8 })).status).toBe(200);
});

test('of two answers with the same count one signs in', async () => {
  const { authenticator } = await add(await makeMember(hw, newEmail(), 'viewer'));
  const both = await Promise.all([1, 2].map(() => enter(authenticator, { signCount: 50 })));
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  for (let n = 0; n < 2; n++) {
    await hw.sql`update passkeys set sign_count = 0`;
    expect((await enter(authenticator, { signCount: 0 })).status).toBe(200);
  }
});

test('a passkey is added by its own session, once, with what was asked for', async () => {
  const [email, stranger] = [newEmail(), newEmail()];
  const member = await makeMember(hw, email, 'viewer');
  const other = await makeMember(hw, stranger, 'viewer');
  const answer = async (wrong: Misbehaviour) => {
    const { status, text } = await add(member, wrong);
    return [status, JSON.parse(text).errors?.[0]?.path];
  };
  for (const wrong of [
    { origin: 'https://evil.example' },
    { rpId: 'evil.example' },
    { unverified: true },
    { challenge: Buffer.alloc(32).toString('base64url') },
    { type: 'webauthn.get' },
  ])
    expect([wrong, await answer(wrong)]).toEqual([wrong, [400, 'response']]);
  const authenticator = createAuthenticator(hw.url);
  const { data } = await begin(member);
  const added = { flow: data.flow, name: 'Laptop', response: authenticator.create(data.options) };
  const path = '/users/me/passkeys';
  const again = (await signIn(hw, email)).browser;
  for (const browser of [other, again]) {
    const { status, text } = await browser.api('POST', path, added);
    expect([status, text]).toEqual([400, expect.stringContaining('another browser')]);
  }
  expect((await member.api('POST', path, { ...added, flow: (await beginSignIn()).flow })).status).toBe(400);
  expect((await member.api('POST', path, { ...added, name: '' })).status).toBe(400);
  expect((await member.api('POST', path, added)).status).toBe(200);
  expect((await member.api('POST', path, added)).status).toBe(400);
  // The same credential, of which the other person says that it is theirs.
  expect((await add(other, {}, authenticator)).status).toBe(409);
  const { data: mine } = await member.api('GET', path);
  expect((await other.api('DELETE', `${path}/${mine[0].id}`)).status).toBe(404);
  expect((await other.api('PUT', `${path}/${mine[0].id}`, { name: 'x' })).status).toBe(404);
  expect((await hw.api('GET', path)).data).toEqual([]);
  for (const [method, at] of [
    ['POST', `${path}/options`],
    ['DELETE', `${path}/${mine[0].id}`],
  ] as const)
    expect((await hw.api(method, at, {})).text).toContain('An API key has no passkeys');
});

test('an attestation is not read: it may have certificates that name servers', async () => {
  const member = await makeMember(hw, newEmail(), 'viewer');
  const { data } = await begin(member);
  const attested = { fmt: 'packed', attStmt: new Map<string, never>() };
  const response = createAuthenticator(hw.url).create(data.options, {}, attested);
  const added = await member.api('POST', '/users/me/passkeys', { flow: data.flow, name: 'Key', response });
  expect(added.status).toBe(200);
});

test('a session that is not young adds a passkey with the password alone', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'viewer');
  await hw.sql`update user_sessions set created_at = now() - interval '11 minutes'`;
  const refused = await begin(member);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('younger than 10 minutes')]);
  const wrong = await begin(member, { current_password: 'wrong password' });
  expect([wrong.status, JSON.parse(wrong.text).errors[0]]).toEqual([
    400,
    { path: 'current_password', message: 'is wrong' },
  ]);
  expect((await begin(member, { current_password: PASSWORD })).status).toBe(200);
  for (let n = 0; n < 12; n++) await begin(member, { current_password: 'wrong password' });
  expect((await begin(member, { current_password: PASSWORD })).status).toBe(429);
});

/** Accepts an invitation to another account while signed in. */
async function acceptIn({ cookie, session }: Browser, token: string) {
  const headers = { cookie, 'x-headwater-session': session.id };
  const { status, browser } = await postSession(hw, '/invitation/accept', { token }, headers);
  expect(status).toBe(200);
  return browser;
}

test('an old session that accepts an invitation is as old as before', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'viewer');
  await hw.sql`
    update user_sessions set created_at = now() - interval '29 days', expires_at = now() + interval '1 day'`;
  const stranger = await hw.newAccount();
  const { data: invited } = await stranger.api('POST', '/members/invitations', { email, role: 'viewer' });
  const joined = await acceptIn(member, tokenOf(invited.link));
  expect(joined.session).toMatchObject({ account_id: stranger.accountId });
  for (const api of [joined.api, joined.inAccount(stranger.accountId), member.api]) {
    const refused = await api('POST', '/users/me/passkeys/options', {});
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('younger than 10 minutes')]);
  }
  const { data: sessions } = await joined.api('GET', '/users/me/sessions');
  expect(sessions).toHaveLength(1);
  expect(sessions[0].expires_at * 1_000).toBeLessThan(Date.now() + 2 * 86_400_000);
  // The end of it is the end of what the invitation has given it.
  await member.api('DELETE', `/users/me/sessions/${sessions[0].id}`);
  expect((await joined.inAccount(stranger.accountId)('GET', '/users/me')).status).toBe(401);
});

test('each account of the person sees what changes how the person signs in', async () => {
  const email = newEmail();
  const [home, other, uninvolved] = [await hw.newAccount(), await hw.newAccount(), await hw.newAccount()];
  const atHome = await makeMember(home, email, 'viewer');
  const away = await makeMember(other, email, 'viewer');
  await makeMember(uninvolved, newEmail(), 'viewer');
  const inOther = { ...away, api: away.inAccount(other.accountId) };
  const { data: passkey } = await add(inOther);
  await inOther.api('PUT', `/users/me/passkeys/${passkey.id}`, { name: 'Old laptop' });
  await inOther.api('DELETE', `/users/me/passkeys/${passkey.id}`);
  const { data: sessions } = await inOther.api('GET', '/users/me/sessions');
  const { id: ended } = sessions.find(({ is_current: isCurrent }: { is_current: boolean }) => !isCurrent);
  expect((await inOther.api('DELETE', `/users/me/sessions/${ended}`)).status).toBe(204);
  expect((await inOther.api('DELETE', `/users/me/passkeys/${passkey.id}`)).status).toBe(404);
  const passwords = { current_password: PASSWORD, password: 'another long password' };
  expect((await inOther.api('PUT', '/users/me/password', passwords)).status).toBe(204);
  const entriesOf = async ({ api }: Pick<Headwater, 'api'>) => {
    const { data } = await api('GET', '/audit', { actor: email });
    // oxlint-disable-next-line typescript/no-explicit-any -- as the API answers them
    return data.map((one: any) => [one.action, one.thing, one.actor_id, one.outcome, one.account_id]);
  };
  for (const [account, { session }] of [
    [home, atHome],
    [other, away],
  ] as const) {
    const of = [session.user_id, 'made', account.accountId];
    expect(await entriesOf(account)).toEqual([
      ['changePassword', '/v1/users/me/password', ...of],
      ['endSession', ended, ...of],
      ['removePasskey', passkey.id, ...of],
      ['renamePasskey', passkey.id, ...of],
      ['addPasskey', passkey.id, ...of],
      ['acceptInvitation', expect.any(String), ...of],
    ]);
  }
  expect(await entriesOf(uninvolved)).toEqual([]);
});

test('a person has only so many', async () => {
  const member = await makeMember(hw, newEmail(), 'viewer');
  for (let n = 0; n < 20; n++) expect((await add(member)).status).toBe(200);
  const refused = await add(member);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('maxPasskeys is 20')]);
});

test('a person who is forgotten has no passkeys', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'viewer');
  const { authenticator } = await add(member);
  expect((await hw.api('DELETE', `/members/${member.session.user_id}`)).status).toBe(204);
  expect((await enter(authenticator)).status).toBe(401);
  expect(await hw.sql`select from passkeys p where not exists (select from people where id = p.person_id)`).toEqual([]);
});

test('a changed password leaves passkeys, which each session can look through', async () => {
  const member = await makeMember(hw, newEmail(), 'viewer');
  const { authenticator } = await add(member);
  const passwords = { current_password: PASSWORD, password: 'another long password' };
  expect((await member.api('PUT', '/users/me/password', passwords)).status).toBe(204);
  expect((await enter(authenticator)).status).toBe(200);
});

/** The token of the last of so many mails to the address. */
async function mailedToken(email: string, kind: string, count = 1): Promise<string> {
  const link = new RegExp(`#token=(${kind}\\w+)`);
  // Long lines are folded in quoted-printable.
  const textOf = (text: string) => text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
  const tokens = () =>
    mail.mails.filter(({ to }) => to.includes(email)).flatMap(({ text }) => link.exec(textOf(text))?.[1] ?? []);
  await eventually(() => tokens().length >= count, { what: `${count} mails to ${email}` });
  return tokens().at(-1) ?? '';
}

test('a link that was mailed leaves no passkey of before', async () => {
  const [email, squatted] = [newEmail(), newEmail()];
  const { authenticator } = await add(await makeMember(hw, email, 'viewer'));
  await postSession(hw, '/password_reset', { email });
  const reset = { token: await mailedToken(email, 'hw_reset_'), password: 'another long password' };
  const { status, browser } = await postSession(hw, '/password_reset/password', reset);
  expect(status).toBe(200);
  expect((await browser.api('GET', '/users/me/passkeys')).data).toEqual([]);
  expect((await enter(authenticator)).status).toBe(401);
  // An admin who has the link of an invitation makes the person of somebody else.
  const { authenticator: ofSquatter } = await add(await makeMember(hw, squatted, 'viewer'));
  const other = await hw.newAccount();
  await other.api('POST', '/members/invitations', { email: squatted, role: 'viewer' });
  const token = await mailedToken(squatted, 'hw_invite_', 2);
  const accepted = await postSession(hw, '/invitation/accept', { token, password: 'another long password' });
  expect(accepted.status).toBe(200);
  expect((await enter(ofSquatter)).status).toBe(401);
});

test('a node of the previous version that proves an address leaves no passkey of before', async () => {
  const email = newEmail();
  const { authenticator } = await add(await makeMember(hw, email, 'viewer'));
  await hw.sql.begin(async (tx) => {
    const [person] = await tx<{ id: string }[]>`
      update people set password_hash = null where email = ${email} returning id`;
    const id = person?.id ?? '';
    await tx`delete from user_sessions where person_id = ${id}`;
    await tx`update people set email_verified_at = coalesce(email_verified_at, now()) where id = ${id}`;
  });
  expect((await enter(authenticator)).status).toBe(401);
});

test('a person who accepts a mailed invitation while signed in keeps the passkeys', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'viewer');
  const { authenticator } = await add(member);
  const other = await hw.newAccount();
  await other.api('POST', '/members/invitations', { email, role: 'viewer' });
  await acceptIn(member, await mailedToken(email, 'hw_invite_', 2));
  const [person] = await hw.sql`select from people where email = ${email} and email_verified_at is not null`;
  expect(person).toBeDefined();
  expect((await enter(authenticator)).status).toBe(200);
});

test('what is no answer of a browser is refused with what is wrong', async () => {
  const { flow, cookie } = await beginSignIn();
  const bodies: object[] = [
    {},
    { flow, response: {} },
    { flow, response: { id: '\0', rawId: '=', type: 'public-key', response: {} } },
    { flow, response: 1, more: true },
    { flow: 'x'.repeat(3_000), response: {} },
  ];
  for (const body of bodies) {
    const { status, text } = await postSession(hw, '/passkey', body, { cookie: nameAndValue(cookie) });
    expect([status, JSON.parse(text).errors.length > 0]).toEqual([400, true]);
  }
  const bytes = { id: 'AA', rawId: 'AA', type: 'public-key' };
  const response = { clientDataJSON: 'AA', authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' };
  expect((await finish(flow, { ...bytes, response }, cookie)).status).toBe(401);
});

test('a client signs in with a passkey only so often, and a known address keeps nobody out', async () => {
  const email = newEmail();
  const { authenticator } = await add(await makeMember(hw, email, 'viewer'));
  for (let n = 0; n < 12; n++) await signIn(hw, email, 'wrong password');
  expect((await signIn(hw, email)).status).toBe(429);
  expect((await enter(authenticator)).status).toBe(200);
  const answers = [];
  for (let n = 0; n < 60; n++) answers.push(await postSession(hw, '/passkey', { flow: 'x', response: unknown() }));
  expect(answers.at(-1)?.status).toBe(429);
  const limited = await enter(authenticator);
  expect([limited.status, limited.text]).toEqual([429, expect.stringContaining('too often')]);
});

const unknown = () => createAuthenticator(hw.url).get({ challenge: 'AA', rpId: 'localhost' });

test('a server without a name says so', async () => {
  const plain = await startHeadwater();
  const methods = await (await fetch(`${plain.url}/v1/session/methods`)).json();
  expect(methods).toMatchObject({ data: { passkey: false } });
  const member = await makeMember(plain, newEmail(), 'viewer');
  const refused = await member.api('POST', '/users/me/passkeys/options', {});
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('HEADWATER_PUBLIC_URL')]);
  expect((await postSession(plain, '/passkey/options', {})).status).toBe(409);
  await plain.stop();
});
