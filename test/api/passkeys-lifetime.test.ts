import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { linksTo, type MailServer, startMailServer } from '../support/mail-server.ts';
import { type Browser, makeMember, newEmail, PASSWORD, postSession, tokenOf } from '../support/members.ts';
import { addPasskey, enter, forgetTries } from '../support/passkeys.ts';
import type { Json } from '../support/json.ts';

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
beforeEach(() => forgetTries(hw));

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

test('each account of the person records changes of how the person signs in', async () => {
  const email = newEmail();
  const [home, other, uninvolved] = [await hw.newAccount(), await hw.newAccount(), await hw.newAccount()];
  const atHome = await makeMember(home, email, 'viewer');
  const away = await makeMember(other, email, 'viewer');
  await makeMember(uninvolved, newEmail(), 'viewer');
  const inOther = { ...away, api: away.inAccount(other.accountId) };
  const { data: passkey } = await addPasskey(hw, inOther);
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
    return data.map((one: Json) => [one.action, one.thing, one.actor_id, one.outcome, one.account_id]);
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

test('a person who is forgotten has no passkeys', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'viewer');
  const { authenticator } = await addPasskey(hw, member);
  expect((await hw.api('DELETE', `/members/${member.session.user_id}`)).status).toBe(204);
  expect((await enter(hw, authenticator)).status).toBe(401);
  expect(await hw.sql`select from passkeys p where not exists (select from people where id = p.person_id)`).toEqual([]);
});

test('a changed password leaves passkeys, which each session can look through', async () => {
  const member = await makeMember(hw, newEmail(), 'viewer');
  const { authenticator } = await addPasskey(hw, member);
  const passwords = { current_password: PASSWORD, password: 'another long password' };
  expect((await member.api('PUT', '/users/me/password', passwords)).status).toBe(204);
  expect((await enter(hw, authenticator)).status).toBe(200);
});

const mailedToken = async (email: string, kind: string, count = 1) =>
  tokenOf((await linksTo(mail, email, kind, count)).at(-1) ?? '');

test('a link that was mailed leaves no passkey of before', async () => {
  const [email, squatted] = [newEmail(), newEmail()];
  const { authenticator } = await addPasskey(hw, await makeMember(hw, email, 'viewer'));
  await postSession(hw, '/password_reset', { email });
  const reset = { token: await mailedToken(email, 'hw_reset_'), password: 'another long password' };
  const { status, browser } = await postSession(hw, '/password_reset/password', reset);
  expect(status).toBe(200);
  expect((await browser.api('GET', '/users/me/passkeys')).data).toEqual([]);
  expect((await enter(hw, authenticator)).status).toBe(401);
  // An admin who has the link of an invitation makes the person of somebody else.
  const { authenticator: ofSquatter } = await addPasskey(hw, await makeMember(hw, squatted, 'viewer'));
  const other = await hw.newAccount();
  await other.api('POST', '/members/invitations', { email: squatted, role: 'viewer' });
  const token = await mailedToken(squatted, 'hw_invite_', 2);
  const accepted = await postSession(hw, '/invitation/accept', { token, password: 'another long password' });
  expect(accepted.status).toBe(200);
  expect((await enter(hw, ofSquatter)).status).toBe(401);
});

test('a node of the previous version that proves an address leaves no passkey of before', async () => {
  const email = newEmail();
  const { authenticator } = await addPasskey(hw, await makeMember(hw, email, 'viewer'));
  await hw.sql.begin(async (tx) => {
    const [person] = await tx<{ id: string }[]>`
      update people set password_hash = null where email = ${email} returning id`;
    const id = person?.id ?? '';
    await tx`delete from user_sessions where person_id = ${id}`;
    await tx`update people set email_verified_at = coalesce(email_verified_at, now()) where id = ${id}`;
  });
  expect((await enter(hw, authenticator)).status).toBe(401);
});

test('a person who accepts a mailed invitation while signed in keeps the passkeys', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'viewer');
  const { authenticator } = await addPasskey(hw, member);
  const other = await hw.newAccount();
  await other.api('POST', '/members/invitations', { email, role: 'viewer' });
  await acceptIn(member, await mailedToken(email, 'hw_invite_', 2));
  const [person] = await hw.sql`select from people where email = ${email} and email_verified_at is not null`;
  expect(person).toBeDefined();
  expect((await enter(hw, authenticator)).status).toBe(200);
});
