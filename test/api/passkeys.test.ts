import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { makeMember, newEmail, PASSWORD, postSession, signIn } from '../support/members.ts';
import { addPasskey, beginPasskey, beginSignIn, enter, forgetTries } from '../support/passkeys.ts';
import { createAuthenticator, type Misbehaviour } from '../support/software-authenticator.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater({ host: 'localhost' });
});
afterAll(() => hw.stop());
// All tests sign in from one address.
beforeEach(() => forgetTries(hw));

test('a member adds a passkey, signs in with it, renames it, and removes it', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'developer');
  const { status, data, authenticator } = await addPasskey(hw, member);
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
  const signedIn = await enter(hw, authenticator);
  expect(signedIn.status).toBe(200);
  expect(signedIn.browser.session).toMatchObject({ role: 'account', member: { email, role: 'developer' } });
  expect((await signedIn.browser.api('GET', '/users/me')).data).toMatchObject({ email });
  const renamed = await member.api('PUT', `/users/me/passkeys/${data.id}`, { name: 'Old laptop' });
  expect(renamed.data).toMatchObject({ name: 'Old laptop', last_used_at: expect.any(Number) });
  expect((await member.api('GET', '/users/me/passkeys')).data).toEqual([renamed.data]);
  expect((await member.api('DELETE', `/users/me/passkeys/${data.id}`)).status).toBe(204);
  expect((await enter(hw, authenticator)).status).toBe(401);
  expect((await member.api('GET', '/users/me/passkeys')).data).toEqual([]);
  const { data: entries } = await hw.api('GET', '/audit');
  const own = entries.filter(({ actor_name: name }: { actor_name: string }) => name === email);
  expect(own.map(({ action, thing }: { action: string; thing: string }) => [action, thing])).toEqual(
    expect.arrayContaining(['addPasskey', 'renamePasskey', 'removePasskey'].map((action) => [action, data.id])),
  );
  expect(own.map(({ action }: { action: string }) => action)).not.toContain('beginPasskey');
});

test('a passkey is added by its own session, once, for the requested challenge', async () => {
  const [email, stranger] = [newEmail(), newEmail()];
  const member = await makeMember(hw, email, 'viewer');
  const other = await makeMember(hw, stranger, 'viewer');
  const answer = async (wrong: Misbehaviour) => {
    const { status, text } = await addPasskey(hw, member, wrong);
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
  const { data } = await beginPasskey(member);
  const added = { flow: data.flow, name: 'Laptop', response: authenticator.create(data.options) };
  const path = '/users/me/passkeys';
  const again = (await signIn(hw, email)).browser;
  for (const browser of [other, again]) {
    const { status, text } = await browser.api('POST', path, added);
    expect([status, text]).toEqual([400, expect.stringContaining('another browser')]);
  }
  expect((await member.api('POST', path, { ...added, flow: (await beginSignIn(hw)).flow })).status).toBe(400);
  expect((await member.api('POST', path, { ...added, name: '' })).status).toBe(400);
  expect((await member.api('POST', path, added)).status).toBe(200);
  expect((await member.api('POST', path, added)).status).toBe(400);
  // The same credential, of which the other person says that it is theirs.
  expect((await addPasskey(hw, other, {}, authenticator)).status).toBe(409);
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
  const { data } = await beginPasskey(member);
  const attested = { fmt: 'packed', attStmt: new Map<string, never>() };
  const response = createAuthenticator(hw.url).create(data.options, {}, attested);
  const added = await member.api('POST', '/users/me/passkeys', { flow: data.flow, name: 'Key', response });
  expect(added.status).toBe(200);
});

test('a session that is not young adds a passkey with the password alone', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'viewer');
  await hw.sql`update user_sessions set created_at = now() - interval '11 minutes'`;
  const refused = await beginPasskey(member);
  expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('younger than 10 minutes')]);
  const wrong = await beginPasskey(member, { current_password: 'wrong password' });
  expect([wrong.status, JSON.parse(wrong.text).errors[0]]).toEqual([
    400,
    { path: 'current_password', message: 'is wrong' },
  ]);
  expect((await beginPasskey(member, { current_password: PASSWORD })).status).toBe(200);
  for (let n = 0; n < 12; n++) await beginPasskey(member, { current_password: 'wrong password' });
  expect((await beginPasskey(member, { current_password: PASSWORD })).status).toBe(429);
});

test('a person has only so many', async () => {
  const member = await makeMember(hw, newEmail(), 'viewer');
  for (let n = 0; n < 20; n++) expect((await addPasskey(hw, member)).status).toBe(200);
  const refused = await addPasskey(hw, member);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('maxPasskeys is 20')]);
});

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
