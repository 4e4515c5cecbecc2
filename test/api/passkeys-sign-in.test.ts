import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { makeMember, newEmail, postSession, signIn } from '../support/members.ts';
import {
  addPasskey,
  beginPasskey,
  beginSignIn,
  enter,
  finishSignIn,
  forgetTries,
  nameAndValue,
} from '../support/passkeys.ts';
import { createAuthenticator, type Misbehaviour } from '../support/software-authenticator.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater({ host: 'localhost' });
});
afterAll(() => hw.stop());
// All tests sign in from one address.
beforeEach(() => forgetTries(hw));

const detailOf = ({ text }: { text: string }): string => JSON.parse(text).detail;

test('it signs in to the account that the request names', async () => {
  const [home, other] = [await hw.newAccount(), await hw.newAccount()];
  const email = newEmail();
  const { authenticator } = await addPasskey(hw, await makeMember(home, email, 'owner'));
  await makeMember(other, email, 'viewer');
  const { browser } = await enter(hw, authenticator);
  expect(browser.session.member.accounts).toHaveLength(2);
  expect((await browser.inAccount(other.accountId)('GET', '/users/me')).data).toMatchObject({ role: 'viewer' });
});

test('options name no passkeys to a stranger, and ask for a verified person', async () => {
  const { options } = await beginSignIn(hw);
  expect(options).toEqual({
    challenge: expect.stringMatching(/^[\w-]{43}$/),
    rpId: 'localhost',
    timeout: 300_000,
    userVerification: 'required',
  });
  const member = await makeMember(hw, newEmail(), 'viewer');
  const { authenticator } = await addPasskey(hw, member);
  const { data } = await beginPasskey(member);
  expect(data.options).toMatchObject({
    rp: { id: 'localhost', name: 'Headwater' },
    attestation: 'none',
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    excludeCredentials: [{ id: authenticator.id, type: 'public-key' }],
  });
});

test('a replayed, foreign or made-up answer makes no session', async () => {
  const { authenticator } = await addPasskey(hw, await makeMember(hw, newEmail(), 'viewer'));
  const { flow, options, cookie } = await beginSignIn(hw);
  expect(cookie).toMatch(/^hw_passkey=\w{40}; Path=\/v1\/session\/passkey; Max-Age=600; HttpOnly; SameSite=Strict$/);
  const second = await beginSignIn(hw, nameAndValue(cookie));
  // Authenticators that do not count say 0: the challenge alone tells a replay.
  const response = authenticator.get(options, { signCount: 99 });
  expect((await finishSignIn(hw, flow, response, '')).status).toBe(401);
  expect((await finishSignIn(hw, flow, response, `hw_passkey=${'x'.repeat(40)}`)).status).toBe(401);
  expect((await finishSignIn(hw, second.flow, response, cookie)).status).toBe(401);
  expect((await finishSignIn(hw, 'made-up', response, cookie)).status).toBe(401);
  expect((await finishSignIn(hw, flow, response, cookie)).status).toBe(200);
  expect((await finishSignIn(hw, flow, response, cookie)).status).toBe(401);
  await hw.sql`update passkeys set sign_count = 0`;
  expect((await finishSignIn(hw, flow, response, cookie)).status).toBe(401);
});

test('two pages of one browser each sign in with the challenge of their own', async () => {
  const { authenticator } = await addPasskey(hw, await makeMember(hw, newEmail(), 'viewer'));
  const first = await beginSignIn(hw);
  const second = await beginSignIn(hw, nameAndValue(first.cookie));
  expect(nameAndValue(second.cookie)).toBe(nameAndValue(first.cookie));
  for (const { flow, options } of [first, second])
    expect((await finishSignIn(hw, flow, authenticator.get(options), second.cookie)).status).toBe(200);
});

test('each refusal has the same words, and makes no cookie', async () => {
  const { authenticator } = await addPasskey(hw, await makeMember(hw, newEmail(), 'viewer'));
  const { authenticator: other } = await addPasskey(hw, await makeMember(hw, newEmail(), 'viewer'));
  expect((await enter(hw, authenticator, { signCount: 7 })).status).toBe(200);
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
  const answers = [await enter(hw, createAuthenticator(hw.url))];
  for (const wrong of Object.values(wrongs)) answers.push(await enter(hw, authenticator, wrong));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
  expect(new Set(answers.map(detailOf)).size).toBe(1);
  expect(answers.every(({ browser }) => browser.cookie === '')).toBe(true);
  expect((await enter(hw, authenticator, { signCount: 8 })).status).toBe(200);
});

test('two answers with the same count make one session', async () => {
  const { authenticator } = await addPasskey(hw, await makeMember(hw, newEmail(), 'viewer'));
  const both = await Promise.all([1, 2].map(() => enter(hw, authenticator, { signCount: 50 })));
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 401]);
  for (let n = 0; n < 2; n++) {
    await hw.sql`update passkeys set sign_count = 0`;
    expect((await enter(hw, authenticator, { signCount: 0 })).status).toBe(200);
  }
});

test('a malformed answer of a browser is refused with the mistake', async () => {
  const { flow, cookie } = await beginSignIn(hw);
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
  expect((await finishSignIn(hw, flow, { ...bytes, response }, cookie)).status).toBe(401);
});

test('sign-ins of a client with a passkey are limited, and a known address locks no person out', async () => {
  const email = newEmail();
  const { authenticator } = await addPasskey(hw, await makeMember(hw, email, 'viewer'));
  for (let n = 0; n < 12; n++) await signIn(hw, email, 'wrong password');
  expect((await signIn(hw, email)).status).toBe(429);
  expect((await enter(hw, authenticator)).status).toBe(200);
  const answers = [];
  for (let n = 0; n < 60; n++) answers.push(await postSession(hw, '/passkey', { flow: 'x', response: unknown() }));
  expect(answers.at(-1)?.status).toBe(429);
  const limited = await enter(hw, authenticator);
  expect([limited.status, limited.text]).toEqual([429, expect.stringContaining('too often')]);
});

const unknown = () => createAuthenticator(hw.url).get({ challenge: 'AA', rpId: 'localhost' });
