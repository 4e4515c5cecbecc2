import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { linksTo, type MailServer, startMailServer } from '../support/mail-server.ts';
import { makeMember, newEmail, PASSWORD, postSession, signIn, tokenOf } from '../support/members.ts';

let mail: MailServer;
let hw: Headwater;
beforeAll(async () => {
  mail = await startMailServer();
  hw = await startHeadwater({ mail: { smtpUrl: mail.url, from: 'Headwater <no-reply@example.com>' } });
});
afterAll(async () => {
  await hw.stop();
  await mail.stop();
});

const ask = (email: string) => postSession(hw, '/password_reset', { email });
const reset = (token: string, password: string) => postSession(hw, '/password_reset/password', { token, password });

const mailsTo = (email: string) => mail.mails.filter(({ to }) => to.includes(email));

const resetLinksTo = (email: string, count = 1) => linksTo(mail, email, 'hw_reset_', count);

test('a mailed invitation proves the address, and its link is another one than the admin’s', async () => {
  const email = newEmail();
  const { data } = await hw.api('POST', '/members/invitations', { email, role: 'developer' });
  expect(data).toMatchObject({ email, mailed: true });
  const [link = ''] = await linksTo(mail, email, 'hw_invite_');
  expect(link).toMatch(new RegExp(`^${hw.url}/invitation#token=hw_invite_`));
  expect(tokenOf(link)).not.toBe(tokenOf(data.link));
  const accepted = await postSession(hw, '/invitation/accept', {
    token: tokenOf(link),
    name: 'Ada',
    password: PASSWORD,
  });
  expect(accepted.status).toBe(200);
  const [person] = await hw.sql`select email_verified_at is not null as is_verified from people where email = ${email}`;
  expect(person).toEqual({ is_verified: true });
  expect((await postSession(hw, '/invitation', { token: tokenOf(data.link) })).status).toBe(404);
});

test('a mailed link sets a new password once, and ends the other sessions', async () => {
  const email = newEmail();
  const before = await makeMember(hw, email, 'developer');
  const asked = await ask(email.toUpperCase());
  expect([asked.status, asked.text]).toEqual([202, '']);
  const [link = ''] = await resetLinksTo(email);
  expect(link).toMatch(new RegExp(`^${hw.url}/password#token=hw_reset_`));
  const stored = await hw.sql<{ row: string }[]>`select t::text as row from password_resets t`;
  expect(stored.map(({ row }) => row).join()).not.toContain(tokenOf(link));
  expect((await reset(tokenOf(link), 'short')).status).toBe(400);
  const set = await reset(tokenOf(link), 'another long password');
  expect(set.status).toBe(200);
  expect((await set.browser.api('GET', '/users/me')).data).toMatchObject({ email, role: 'developer' });
  expect((await before.api('GET', '/users/me')).status).toBe(401);
  expect((await signIn(hw, email)).status).toBe(401);
  expect((await signIn(hw, email, 'another long password')).status).toBe(200);
  expect((await reset(tokenOf(link), 'a third long password')).status).toBe(404);
  const { data: entries } = await hw.api('GET', '/audit', { action: 'resetPassword' });
  expect(entries).toMatchObject([{ actor_name: email, thing: set.browser.session.user_id }]);
  expect(JSON.stringify(entries)).not.toContain('password"');
});

test('an unknown address is answered alike, and gets no mail', async () => {
  const [known, nobody] = [newEmail(), newEmail()];
  await makeMember(hw, known, 'viewer');
  const answers = [await ask(known), await ask(nobody), await ask(''), await ask('a\0b@example.com')];
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set(['202 ']));
  await resetLinksTo(known);
  expect(mailsTo(nobody)).toEqual([]);
});

test('links end with their hour and with another password, and no address is flooded', async () => {
  const email = newEmail();
  const member = await makeMember(hw, email, 'viewer');
  for (let n = 0; n < 6; n++) expect((await ask(email)).status).toBe(202);
  const links = await resetLinksTo(email, 3);
  const other = newEmail();
  await makeMember(hw, other, 'viewer');
  await ask(other);
  await resetLinksTo(other);
  expect(await resetLinksTo(email, 3)).toHaveLength(3);
  const [first = '', second = ''] = links;
  const changed = await member.api('PUT', '/users/me/password', {
    current_password: PASSWORD,
    password: 'changed by myself',
  });
  expect(changed.status).toBe(204);
  for (const link of [first, second]) expect((await reset(tokenOf(link), 'another long password')).status).toBe(404);
  const [late = ''] = await resetLinksTo(other);
  await hw.sql`update password_resets set expires_at = now()`;
  expect((await reset(tokenOf(late), 'another long password')).status).toBe(404);
  for (const token of ['', 'hw_reset_', `hw_reset_${'x'.repeat(40)}`, '\0'])
    expect((await reset(token, 'another long password')).status).toBe(404);
});

test('without a mail server the answer says so', async () => {
  const mute = await startHeadwater();
  const answer = await postSession(mute, '/password_reset', { email: 'ada@example.com' });
  expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('sends no mail')]);
  await mute.stop();
});
