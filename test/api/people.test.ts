import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { makeMember, PASSWORD, postSession, signIn, tokenOf } from '../support/members.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

let people = 0;
/** Nobody's yet. */
const newEmail = (name = 'ada') => `${name}.${process.pid}.${Date.now()}.${people++}@example.com`;
const invite = (api: Headwater['api'], email: string, role: string) =>
  api('POST', '/members/invitations', { email, role });
const accept = (link: string, body: object = { password: PASSWORD }, headers = {}) =>
  postSession(hw, '/invitation/accept', { token: tokenOf(link), ...body }, headers);

test('the printed key invites the first owner, who signs in and is told the role and the accounts', async () => {
  const account = await hw.newAccount();
  const email = newEmail();
  const invited = await invite(account.api, email.toUpperCase(), 'owner');
  expect(invited.data).toMatchObject({ email, role: 'owner', mailed: false });
  const shown = await postSession(hw, '/invitation', { token: tokenOf(invited.data.link) });
  expect(JSON.parse(shown.text).data).toMatchObject({ account_name: 'Tests', email, role: 'owner' });
  expect((await accept(invited.data.link, { name: 'Ada', password: PASSWORD })).status).toBe(200);
  const { status, browser } = await signIn(hw, email);
  expect(status).toBe(200);
  expect(browser.session).toMatchObject({
    role: 'account',
    account_id: account.accountId,
    username: 'Ada',
    member: { email, role: 'owner', accounts: [{ id: account.accountId, name: 'Tests', role: 'owner' }] },
  });
  const { data: me } = await browser.api('GET', '/users/me');
  expect(me).toMatchObject({ email, role: 'owner', orgs: [{ id: account.accountId, role: 'owner' }] });
  expect((await browser.api('GET', '/members')).data).toMatchObject([{ id: me.id, email, name: 'Ada', role: 'owner' }]);
  expect((await account.api('GET', '/users/me')).data).toMatchObject({ role: null, email: null });
  // With an owner, a key makes no other: an admin could make such a key.
  expect((await invite(account.api, newEmail(), 'owner')).status).toBe(403);
});

test('a link works once, not after it was revoked or has expired, and only the newest one of an address', async () => {
  const used = (await invite(hw.api, newEmail(), 'viewer')).data;
  expect((await accept(used.link)).status).toBe(200);
  const revoked = (await invite(hw.api, newEmail(), 'viewer')).data;
  expect((await hw.api('DELETE', `/members/invitations/${revoked.id}`)).status).toBe(204);
  const email = newEmail();
  const replaced = (await invite(hw.api, email, 'viewer')).data;
  const newest = (await invite(hw.api, email, 'developer')).data;
  const expired = (await invite(hw.api, newEmail(), 'viewer')).data;
  await hw.sql`update invitations set expires_at = now() where id = ${expired.id}`;
  for (const { link } of [used, revoked, replaced, expired]) {
    expect((await accept(link)).status).toBe(404);
    expect((await postSession(hw, '/invitation', { token: tokenOf(link) })).status).toBe(404);
  }
  const { data: open } = await hw.api('GET', '/members/invitations');
  expect(open.map(({ id }: { id: string }) => id)).toEqual([newest.id]);
  expect(JSON.stringify(open)).not.toContain('hw_invite_');
  const at = await Promise.all([accept(newest.link), accept(newest.link), accept(newest.link)]);
  expect(at.map(({ status }) => status).toSorted((a, b) => a - b)[0]).toBe(200);
  expect(at.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const token of ['', 'hw_invite_', `hw_invite_${'x'.repeat(40)}`, '\0'])
    expect((await postSession(hw, '/invitation/accept', { token, password: PASSWORD })).status).toBe(404);
});

test('a wrong password, an unknown address and a short one are answered alike, without a cookie', async () => {
  const email = newEmail();
  await makeMember(hw, email, 'viewer');
  const answers = [
    await signIn(hw, email, 'wrong password'),
    await signIn(hw, newEmail('nobody')),
    await signIn(hw, ''),
  ];
  const told = answers.map(({ status, text }) => [status, JSON.parse(text).detail]);
  expect(new Set(told.map((one) => JSON.stringify(one))).size).toBe(1);
  expect(told[0]).toEqual([401, 'The e-mail address or the password is wrong']);
  expect(answers.every(({ browser }) => browser.cookie === '')).toBe(true);
  const short = (await invite(hw.api, newEmail(), 'viewer')).data;
  expect((await accept(short.link, { password: 'short' })).status).toBe(400);
});

test("an invitation of a person with a member elsewhere is answered alike, and takes that person's password", async () => {
  const [home, other] = [await hw.newAccount(), await hw.newAccount()];
  const email = newEmail();
  const browser = await makeMember(home, email, 'owner');
  const invited = await invite(other.api, email, 'viewer');
  const ofNobody = await invite(other.api, newEmail(), 'viewer');
  expect(Object.keys(invited.data)).toEqual(Object.keys(ofNobody.data));
  expect((await accept(invited.data.link, { password: 'not that of this person' })).status).toBe(401);
  const stranger = await makeMember(other, newEmail('stranger'), 'viewer');
  const headers = (of: typeof browser) => ({ cookie: of.cookie, 'x-headwater-session': of.session.id });
  expect((await accept(invited.data.link, {}, headers(stranger))).status).toBe(403);
  const joined = await accept(invited.data.link, {}, headers(browser));
  expect(joined.status).toBe(200);
  expect(joined.browser.session).toMatchObject({ account_id: other.accountId, member: { role: 'viewer' } });
  expect(joined.browser.session.member.accounts).toHaveLength(2);
  // Each request says which account it is for.
  const [mine, theirs] = [browser.inAccount(home.accountId), browser.inAccount(other.accountId)];
  expect((await mine('GET', '/users/me')).data).toMatchObject({ role: 'owner' });
  expect((await theirs('GET', '/users/me')).data).toMatchObject({ role: 'viewer' });
  expect((await mine('POST', '/webhooks', { url: 'http://127.0.0.1:2/' })).status).toBe(200);
  expect((await theirs('POST', '/webhooks', { url: 'http://127.0.0.1:2/' })).status).toBe(403);
  expect((await theirs('GET', '/users/me/webhooks')).data).toEqual([]);
  expect((await browser.inAccount(hw.accountId)('GET', '/users/me')).status).toBe(401);
  const elsewhere = await browser.inAccount('o_none')('GET', '/users/me');
  expect([elsewhere.status, elsewhere.text]).toEqual([401, expect.stringContaining('The session has ended')]);
  expect((await invite(other.api, email, 'viewer')).status).toBe(409);
});

test('the last owner stays an owner, and only owners change owners', async () => {
  const account = await hw.newAccount();
  const owner = await makeMember(account, newEmail('owner'), 'owner');
  const admin = await makeMember(account, newEmail('admin'), 'admin');
  const [ownerId, adminId] = [owner.session.user_id, admin.session.user_id];
  expect((await owner.api('PUT', `/members/${ownerId}`, { role: 'admin' })).status).toBe(409);
  expect((await owner.api('DELETE', `/members/${ownerId}`)).status).toBe(409);
  for (const api of [admin.api, account.api]) {
    expect((await api('PUT', `/members/${ownerId}`, { role: 'viewer' })).status).toBe(403);
    expect((await api('DELETE', `/members/${ownerId}`)).status).toBe(403);
    expect((await api('PUT', `/members/${adminId}`, { role: 'owner' })).status).toBe(403);
  }
  expect((await owner.api('PUT', `/members/${adminId}`, { role: 'owner' })).data.role).toBe('owner');
  // Each takes the other's role away at the same time: one is left.
  const both = await Promise.all([
    owner.api('PUT', `/members/${adminId}`, { role: 'viewer' }),
    admin.api('PUT', `/members/${ownerId}`, { role: 'viewer' }),
  ]);
  expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
  const { data } = await account.api('GET', '/members');
  expect(data.filter(({ role }: { role: string }) => role === 'owner')).toHaveLength(1);
});

test('a removed member is out at once, keeps other accounts, and is forgotten with the last one', async () => {
  const [one, two] = [await hw.newAccount(), await hw.newAccount()];
  const email = newEmail();
  const member = await makeMember(one, email, 'admin');
  await makeMember(two, email, 'viewer');
  const key = await member.api('POST', '/api_keys', { name: 'of the admin' });
  const invited = (await invite(member.api, newEmail(), 'admin')).data;
  expect((await one.api('DELETE', `/members/${member.session.user_id}`, { revoke_keys: true })).status).toBe(204);
  expect((await member.inAccount(one.accountId)('GET', '/users/me')).status).toBe(401);
  expect((await hw.as(key.data.api_key)('GET', '/users/me')).status).toBe(401);
  expect((await accept(invited.link)).status).toBe(404);
  expect((await member.inAccount(two.accountId)('GET', '/users/me')).data).toMatchObject({ role: 'viewer' });
  const [last] = (await two.api('GET', '/members')).data;
  expect((await member.inAccount(two.accountId)('DELETE', `/members/${last.id}`)).status).toBe(204);
  expect((await signIn(hw, email)).status).toBe(401);
  expect(await hw.sql`select from people where email = ${email}`).toHaveLength(0);
});

test('a change by a member needs the role of that moment, even if another node changed it', async () => {
  const account = await hw.newAccount();
  const admin = await makeMember(account, newEmail(), 'admin');
  const { user_id: userId } = admin.session;
  const { data: key } = await admin.api('POST', '/api_keys', { name: 'early' });
  // As another node does it: this one takes the member for an admin for some seconds yet.
  await hw.sql`update memberships set role = 'viewer' where user_id = ${userId}`;
  expect((await admin.api('POST', '/members/invitations', { email: newEmail(), role: 'admin' })).status).toBe(403);
  expect((await admin.api('PUT', `/members/${userId}`, { role: 'admin' })).status).toBe(403);
  expect((await admin.api('POST', '/api_keys', { name: 'late' })).status).toBe(403);
  expect((await admin.api('POST', `/api_keys/${key.id}/rotate`, { overlap_hours: 0 })).status).toBe(403);
  expect((await admin.api('DELETE', `/members/${userId}`, { revoke_keys: true })).status).toBe(403);
  expect((await hw.as(key.api_key)('GET', '/users/me')).status).toBe(200);
  expect((await admin.api('DELETE', `/members/${userId}`)).status).toBe(204);
});

test('invitations of a key end with the key, and a key that a member rotated belongs to the member', async () => {
  const account = await hw.newAccount();
  const { data: leaked } = await account.api('POST', '/api_keys', { name: 'leaked' });
  const { data: invited } = await invite(hw.as(leaked.api_key), newEmail(), 'admin');
  expect((await account.api('DELETE', `/api_keys/${leaked.id}`)).status).toBe(204);
  expect((await accept(invited.link)).status).toBe(404);
  const admin = await makeMember(account, newEmail(), 'admin');
  const { data: other } = await account.api('POST', '/api_keys', { name: 'of a program' });
  const { data: rotated } = await admin.api('POST', `/api_keys/${other.id}/rotate`, { overlap_hours: 0 });
  expect((await hw.as(rotated.api_key)('GET', '/users/me')).status).toBe(200);
  await account.api('DELETE', `/members/${admin.session.user_id}`, { revoke_keys: true });
  expect((await hw.as(rotated.api_key)('GET', '/users/me')).status).toBe(401);
});

test('members and invitations of another account are not there', async () => {
  const [mine, theirs] = [await hw.newAccount(), await hw.newAccount()];
  const owner = await makeMember(mine, newEmail(), 'owner');
  const foreign = await makeMember(theirs, newEmail(), 'viewer');
  const invited = (await invite(theirs.api, newEmail(), 'viewer')).data;
  const id = foreign.session.user_id;
  expect((await owner.api('PUT', `/members/${id}`, { role: 'viewer' })).status).toBe(404);
  expect((await owner.api('DELETE', `/members/${id}`)).status).toBe(404);
  expect((await owner.api('DELETE', `/members/invitations/${invited.id}`)).status).toBe(404);
  const [session] = (await foreign.api('GET', '/users/me/sessions')).data;
  expect((await owner.api('DELETE', `/users/me/sessions/${session.id}`)).status).toBe(404);
  expect((await foreign.api('GET', '/users/me')).status).toBe(200);
  expect((await theirs.api('GET', '/users/me/sessions')).data).toEqual([]);
  expect(
    (await theirs.api('PUT', '/users/me/password', { current_password: PASSWORD, password: PASSWORD })).status,
  ).toBe(403);
  expect((await hw.admin('POST', '/accounts/o_none/invitations', { email: newEmail(), role: 'owner' })).status).toBe(
    404,
  );
  expect(
    (await owner.api('POST', `/accounts/${mine.accountId}/invitations`, { email: newEmail(), role: 'owner' })).status,
  ).toBe(403);
});

test('sessions are listed and ended, and a new password ends all others', async () => {
  const email = newEmail();
  const first = await makeMember(hw, email, 'viewer');
  const second = (await signIn(hw, email)).browser;
  const third = (await signIn(hw, email)).browser;
  const { data } = await second.api('GET', '/users/me/sessions');
  expect(data).toHaveLength(3);
  expect(data.filter(({ is_current: isCurrent }: { is_current: boolean }) => isCurrent)).toHaveLength(1);
  const [ofThird] = (await third.api('GET', '/users/me/sessions')).data;
  expect(ofThird).toMatchObject({ is_current: true, address: expect.stringContaining('127.0.0.1') });
  expect((await second.api('DELETE', `/users/me/sessions/${ofThird.id}`)).status).toBe(204);
  expect((await third.api('GET', '/users/me')).status).toBe(401);
  const change = (current: string) =>
    second.api('PUT', '/users/me/password', { current_password: current, password: 'another long one' });
  expect((await change('wrong')).status).toBe(400);
  expect((await change(PASSWORD)).status).toBe(204);
  expect((await first.api('GET', '/users/me')).status).toBe(401);
  expect((await second.api('GET', '/users/me')).status).toBe(200);
  expect((await signIn(hw, email)).status).toBe(401);
  const again = (await signIn(hw, email, 'another long one')).browser;
  const signOut = await fetch(new URL('/v1/session', hw.url), {
    method: 'DELETE',
    headers: { cookie: again.cookie, 'x-headwater-session': again.session.id },
  });
  expect([signOut.status, signOut.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
  expect((await again.api('GET', '/users/me')).status).toBe(401);
});

test('the cookie alone, a forged one, an expired session and the header of another sign nothing', async () => {
  const member = await makeMember(hw, newEmail(), 'viewer');
  const ask = async (headers: Record<string, string>) =>
    (await fetch(new URL('/v1/users/me', hw.url), { headers })).status;
  const { cookie, session } = member;
  expect(await ask({ cookie, 'x-headwater-session': session.id })).toBe(200);
  expect(await ask({ cookie })).toBe(401);
  expect(await ask({ cookie, 'x-headwater-session': '0'.repeat(16) })).toBe(401);
  expect(await ask({ cookie: `${cookie.slice(0, -4)}AAAA`, 'x-headwater-session': session.id })).toBe(401);
  for (const bearer of [`hw_session_${'x'.repeat(40)}`, `hw_session_${'x'.repeat(40)}.${hw.accountId}`, 'hw_session_'])
    expect(await ask({ authorization: `Bearer ${bearer}` })).toBe(401);
  await hw.sql`update user_sessions set expires_at = now() where person_id in (
    select person_id from memberships where user_id = ${session.user_id})`;
  await expect.poll(() => ask({ cookie, 'x-headwater-session': session.id }), { timeout: 60_000 }).toBe(401);
});

test('the audit log names the member', async () => {
  const account = await hw.newAccount();
  const email = newEmail();
  const member = await makeMember(account, email, 'admin');
  await member.api('POST', '/webhooks', { url: 'http://127.0.0.1:2/', name: 'Mine' });
  const invited = (await invite(member.api, newEmail(), 'viewer')).data;
  const { data, text } = await account.api('GET', '/audit');
  const [ofInvitation, ofWebhook, ofJoining] = data;
  expect(ofInvitation).toMatchObject({
    action: 'inviteMember',
    actor_name: email,
    after: { link: expect.any(String) },
  });
  expect(text).not.toContain(tokenOf(invited.link));
  expect(ofWebhook).toMatchObject({ action: 'createWebhook', actor_id: member.session.user_id, actor_name: email });
  expect(ofJoining).toMatchObject({ action: 'acceptInvitation', actor_id: member.session.user_id });
});

test('sign-in is refused after some tries with an e-mail address, and goes on later', async () => {
  const email = newEmail();
  await makeMember(hw, email, 'viewer');
  const tries = [];
  for (let count = 0; count < 12; count++) tries.push((await signIn(hw, email, 'wrong password')).status);
  expect(tries.slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 401));
  expect(tries.at(-1)).toBe(429);
  expect((await signIn(hw, email)).status).toBe(429);
  await hw.sql`update sign_in_turns set full_at = now()`;
  expect((await signIn(hw, email)).status).toBe(200);
});

test('deleting an account takes its members and invitations with it', async () => {
  const account = await hw.newAccount();
  const email = newEmail();
  const member = await makeMember(account, email, 'owner');
  await invite(member.api, newEmail(), 'viewer');
  expect((await hw.admin('DELETE', `/tenants/${account.accountId}`)).status).toBe(200);
  expect((await member.api('GET', '/users/me')).status).toBe(401);
  expect((await signIn(hw, email)).status).toBe(401);
  expect(await hw.sql`select from invitations where account_id = ${account.accountId}`).toHaveLength(0);
});
