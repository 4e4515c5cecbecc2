import { afterAll, beforeAll, expect, test } from 'vitest';
import { allEndpoints } from '../../api/src/app.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let hw: Headwater;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const links = (id: string) => `/accounts/${id}/portal_links`;
const keyIn = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('key') ?? '';

async function linkOf(body: Record<string, unknown> = {}) {
  const { status, data, text } = await hw.api('POST', links(hw.accountId), body);
  if (status !== 200) throw new Error(text);
  return data as { url: string; key_id: string; expires_at: number };
}

test('a link leads to the portal, with a key that ends', async () => {
  const link = await linkOf({ minutes: 5, theme: { title: 'Acme', accent: '#aa3311', mode: 'dark' } });
  expect(link.url.startsWith(`${hw.url}/portal#key=hw_`)).toBe(true);
  const given = Object.fromEntries(new URLSearchParams(new URL(link.url).hash.slice(1)));
  expect(given).toMatchObject({ title: 'Acme', accent: '#aa3311', mode: 'dark' });
  expect(Math.abs(link.expires_at - Date.now() / 1_000 - 300)).toBeLessThan(120);
  const customer = hw.as(keyIn(link.url));
  const made = await customer('POST', '/webhooks', { url: 'http://127.0.0.1:8099/' });
  expect(made.status).toBe(200);
  expect((await customer('POST', `/webhooks/${made.data.id}/rotate_secret`)).status).toBe(200);
  await hw.sql`update api_keys set expires_at = now() - interval '1 second' where id = ${link.key_id}`;
  const fresh = await linkOf();
  await hw.api('DELETE', `/api_keys/${fresh.key_id}`);
  expect((await hw.as(keyIn(fresh.url))('GET', '/users/me/webhooks')).status).toBe(401);
});

test('with its key every operation but those of webhooks is refused', async () => {
  const customer = hw.as(keyIn((await linkOf()).url));
  const allowed = new Set<string>();
  for (const { method, path } of allEndpoints()) {
    const concrete = path.replace(/^\/v1/, '').replaceAll(/\{\w+\}/g, 'none');
    const { status } = await customer(method.toUpperCase() as 'GET', concrete);
    if (status !== 403) allowed.add(`${method} ${path}`);
  }
  const others = [...allowed].filter(
    (one) => !/ \/v1\/(?:webhooks|subscriptions|deliveries|attempts|replays)(?:\/|$)/.test(one),
  );
  expect(others.toSorted()).toEqual([
    'get /v1/users/me',
    'get /v1/users/me/subscriptions',
    'get /v1/users/me/webhooks',
  ]);
  expect(allowed).toContain('post /v1/webhooks');
});

test('the key of a portal link shows no address of the member', async () => {
  const customer = hw.as(keyIn((await linkOf()).url));
  await hw.sql`update users set email = 'owner@example.com' where account_id = ${hw.accountId}`;
  expect((await hw.api('GET', '/users/me')).data.email).toBe('owner@example.com');
  expect((await customer('GET', '/users/me')).data.email).toBeNull();
});

test('the operator makes one for any account, an account for itself alone', async () => {
  const other = (await hw.admin('POST', '/accounts', { name: 'Customer' })).data;
  const { data, status } = await hw.admin('POST', links(other.id));
  expect(status).toBe(200);
  const made = (await hw.as(keyIn(data.url))('POST', '/webhooks', { url: 'http://127.0.0.1:8099/' })).data;
  expect((await hw.as(other.api_key)('GET', `/webhooks/${made.id}`)).status).toBe(200);
  expect((await hw.api('POST', links(other.id))).status).toBe(404);
  expect((await hw.admin('POST', links('o_none'))).status).toBe(404);
  expect((await hw.as(keyIn((await linkOf()).url))('POST', links(hw.accountId))).status).toBe(403);
});

test.each([{ minutes: 0 }, { minutes: 1_441 }, { theme: { accent: 'red' } }, { theme: { css: 'x' } }])(
  'a malformed link is refused: %j',
  async (body) => {
    expect((await hw.api('POST', links(hw.accountId), body)).status).toBe(400);
  },
);

const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);

test('with its key nothing runs code of the account, or shows what does', async () => {
  const customer = hw.as(keyIn((await linkOf()).url));
  const source = await hw.deploy(
    `export default { name: 'S', version: '1', props: { http: '$.interface.http' }, run(e) { this.$emit(e.body); } };`,
  );
  const listener = await hw.deploy(`export default { name: 'L', version: '1', run() {} };`);
  const own = { emitter_id: source.id, listener_id: listener.id };
  const { data: subscription } = await hw.api('POST', '/subscriptions', own);
  for (const [method, path, parameters] of [
    ['POST', '/subscriptions', own],
    ['DELETE', '/subscriptions', own],
    ['PUT', `/subscriptions/${subscription.id}`, { filter: { never: 1 } }],
    ['POST', '/replays', own],
  ] as const)
    expect([method, path, (await customer(method, path, parameters)).status]).toEqual([method, path, 403]);
  expect((await customer('GET', '/users/me/subscriptions')).data).toEqual([]);
  const { data: names } = await customer('GET', '/subscriptions/emitters');
  expect(names.toSorted(byName)).toEqual([
    { id: listener.id, name: 'L' },
    { id: source.id, name: 'S' },
  ]);
  const { data: webhook } = await customer('POST', '/webhooks', { url: 'http://127.0.0.1:2/' });
  const made = await customer('POST', '/subscriptions', { emitter_id: source.id, listener_id: webhook.id });
  expect(made.status).toBe(200);
  expect((await customer('GET', '/users/me/subscriptions')).data).toMatchObject([{ id: made.data.id }]);
  expect((await customer('PUT', `/subscriptions/${made.data.id}`, { filter: { paid: true } })).status).toBe(200);
});

test('links take no room from the keys of programs, and have a bound of their own', async () => {
  const account = await hw.newAccount();
  await account.limit({ maxApiKeys: 1 });
  const link = () => account.api('POST', links(account.accountId));
  expect((await link()).status).toBe(200);
  expect((await link()).status).toBe(200);
  expect((await account.api('POST', '/api_keys', { name: 'Another' })).text).toMatch(/maxApiKeys is 1; .* 2/);
  await hw.sql`
    insert into api_keys (id, account_id, user_id, name, key_hash, hint, scopes, expires_at, of_portal)
    select 'ak_' || n || k.account_id, account_id, user_id, name, sha256((n || k.account_id)::bytea), hint, scopes, expires_at, true
    from (select * from api_keys where account_id = ${account.accountId} and of_portal limit 1) k, generate_series(1, 998) n`;
  const refused = await link();
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('maxPortalLinks')]);
  await hw.sql`update api_keys set expires_at = now() where id like 'ak\\_%' and account_id = ${account.accountId} and of_portal`;
  expect((await link()).status).toBe(200);
});

test('with its key the runs of the account are invisible', async () => {
  const customer = hw.as(keyIn((await linkOf()).url));
  const source = await hw.deploy(
    `export default { name: 'S', version: '1', props: { http: '$.interface.http' }, run() { throw new Error('inside'); } };`,
  );
  const webhook = (await customer('POST', '/webhooks', { url: 'http://127.0.0.1:8099/' })).data;
  const ends = { emitter_id: source.id, listener_id: webhook.id };
  for (const event_name of ['$errors', '$logs', '$*']) {
    for (const path of ['/subscriptions', '/replays']) {
      const refused = await customer('POST', path, { ...ends, event_name });
      expect([refused.status, refused.text]).toEqual([403, expect.stringContaining(`${event_name} tells of runs`)]);
    }
  }
  expect((await customer('POST', '/subscriptions', { ...ends, event_name: 'order.*' })).status).toBe(200);
  expect((await customer('POST', '/subscriptions', ends)).status).toBe(200);
  await hw.api('POST', '/subscriptions', { ...ends, event_name: '$errors' });
  const code = `export default { name: 'T', version: '1', type: 'transform', run(request) { return request; } };`;
  const transform = (await hw.api('POST', '/components', { component_code: code })).data;
  expect((await hw.api('PUT', `/webhooks/${webhook.id}`, { transform_id: transform.id })).status).toBe(200);
  await fetch(source.endpoint, { method: 'POST', body: '{}' });
  await hw.untilIdle();
  const [{ id }] = (await hw.api('GET', `/sources/${source.id}/event_summaries?event_name=$errors`)).data;
  for (const [path, events] of [
    ['test', { event_id: id }],
    ['transform/preview', { event_ids: [id] }],
  ] as const) {
    expect((await customer('POST', `/webhooks/${webhook.id}/${path}`, events)).status).toBe(404);
    expect((await hw.api('POST', `/webhooks/${webhook.id}/${path}`, events)).status).toBe(200);
  }
});
