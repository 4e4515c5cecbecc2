import { afterAll, beforeAll, expect, test } from 'vitest';
import { allEndpoints } from '../../api/src/app.ts';
import { ROLES, type Role } from '../../shared/src/index.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { type Browser, makeMember } from '../support/members.ts';

let hw: Headwater;
const members = {} as Record<Role, Browser>;
/** Streams that a member may open have no end. */
const routes = allEndpoints().filter(({ access }) => access !== 'admin');

beforeAll(async () => {
  hw = await sharedHeadwater();
  for (const role of ROLES)
    members[role] = await makeMember(hw, `${role}.${process.pid}.${Date.now()}@example.com`, role);
});
afterAll(() => hw.stop());

const OWN = /^\/v1\/users\/me\/(?:sessions|password|passkeys)/;
const KEYS = /^\/v1\/(?:api_keys|accounts\/\{id\}\/portal_links)/;
const MEMBERS = /^\/v1\/members/;

/** As docs/people.md has it, said once more and in another way than the code. */
function mayUse(role: Role, { method, path }: { method: string; path: string }): boolean {
  if (OWN.test(path)) return true;
  // Opens the streams that the role may read.
  if (path === '/v1/streams/token') return true;
  if (method === 'get' && path !== '/v1/webhooks/{id}/tunnel') return true;
  if (KEYS.test(path) || MEMBERS.test(path)) return role === 'admin' || role === 'owner';
  return role !== 'viewer';
}

test.each(ROLES)('%s: every route is refused or not, as the table of roles says', async (role) => {
  const wrong: unknown[] = [];
  for (const endpoint of routes) {
    const { method, path, success } = endpoint;
    const isAllowed = mayUse(role, endpoint);
    if (success.messages === true && isAllowed) continue;
    const concrete = path.replace(/^\/v1/, '').replaceAll(/\{\w+\}/g, 'none');
    const { status, text } = await members[role].api(method.toUpperCase() as 'GET', concrete);
    const isRefused = status === 403 && text.includes(`Your role in this account is ${role}; ${method.toUpperCase()}`);
    if (isRefused === isAllowed || status === 401 || status >= 500) wrong.push([method, path, status, text]);
  }
  expect(wrong).toEqual([]);
});

test('a viewer sees no secrets', async () => {
  const given = { url: 'http://127.0.0.1:2/', headers: { 'x-token': 'hidden-from-viewers' } };
  const { data: webhook } = await hw.api('POST', '/webhooks', given);
  const { text, data } = await members.viewer.api('GET', `/webhooks/${webhook.id}`);
  expect(data.secret).toBeNull();
  expect(text).not.toMatch(/whsec_|hidden-from-viewers/);
  expect((await members.developer.api('GET', `/webhooks/${webhook.id}`)).data.secret).toMatch(/^whsec_/);
  const asked = await members.viewer.api('GET', '/connected_accounts/none', { include_credentials: true });
  expect([asked.status, asked.text]).toEqual([403, expect.stringContaining('Your role in this account is viewer')]);
});

test('the routes of the operator are refused to every role', async () => {
  for (const role of ROLES)
    for (const { method, path } of allEndpoints().filter(({ access }) => access === 'admin')) {
      const concrete = path.replace(/^\/v1/, '').replaceAll(/\{\w+\}/g, hw.accountId);
      const { status } = await members[role].api(method.toUpperCase() as 'GET', concrete);
      expect([role, method, path, status]).toEqual([role, method, path, 403]);
    }
});

test('a changed role holds at once', async () => {
  const { owner, developer } = members;
  const id = developer.session.user_id;
  const make = async () => (await developer.api('POST', '/webhooks', { url: 'http://127.0.0.1:2/' })).status;
  expect(await make()).toBe(200);
  expect((await owner.api('PUT', `/members/${id}`, { role: 'viewer' })).status).toBe(200);
  expect(await make()).toBe(403);
  expect((await owner.api('PUT', `/members/${id}`, { role: 'developer' })).status).toBe(200);
  expect(await make()).toBe(200);
});
