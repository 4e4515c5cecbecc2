import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, startHeadwater } from '../support/headwater.ts';
import { post } from '../support/server.ts';

interface Operation {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  /** A second method of the same path. */
  name: string;
}

const EMITS = `export default { name: 'E', version: '1', props: { http: '$.interface.http' }, run(e) { this.$emit(e.body); } };`;

let hw: Headwater;
let operations: Operation[];
const keys: Record<string, Headwater['api']> = {};

beforeAll(async () => {
  hw = await startHeadwater();
  const document = (await (await fetch(`${hw.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string; security: Record<string, unknown>[] }>>;
  };
  operations = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/v1/') && path !== '/v1/session')
    .flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { operationId: name, security }]) => {
        const isForAccounts = security.some((one) => 'apiKey' in one);
        return isForAccounts ? [{ method: method.toUpperCase() as Operation['method'], path, name }] : [];
      }),
    );
  for (const scope of ['read', 'publish', 'webhooks']) {
    const { data } = await hw.api('POST', '/api_keys', { name: scope, scopes: [scope] });
    keys[scope] = hw.as(data.api_key);
  }
});
afterAll(() => hw?.stop());

/** The operations that the key may not use. Streams that it may open have no end. */
async function refusedTo(scope: string): Promise<Set<string>> {
  const refused = new Set<string>();
  for (const { method, path, name } of operations) {
    if (scope === 'read' && /sse|stream/i.test(path + name)) continue;
    const concrete = path.replace(/^\/v1/, '').replaceAll(/\{\w+\}/g, 'none');
    const { status, text } = await keys[scope]!(method, concrete);
    if (status !== 403) continue;
    expect(text).toMatch(new RegExp(`The scope of this API key is ${scope}; (?:${method}|credentials)`));
    refused.add(`${method} ${path}`);
  }
  return refused;
}

const named = (fits: (operation: Operation) => boolean) =>
  new Set(operations.filter((one) => fits(one)).map(({ method, path }) => `${method} ${path}`));

test('a key to read is refused every change', async () => {
  const refused = await refusedTo('read');
  expect(refused).toEqual(named(({ method, path }) => method !== 'GET' || path === '/v1/webhooks/{id}/tunnel'));
});

test('a key to publish is refused everything but the publishing of events', async () => {
  const refused = await refusedTo('publish');
  const allowed = [...named(() => true)].filter((one) => !refused.has(one));
  expect(allowed.toSorted()).toEqual(['POST /v1/events', 'POST /v1/sources/{id}/events']);
});

test('a key for webhooks reaches them, and nothing of code, events, keys or accounts', async () => {
  const refused = await refusedTo('webhooks');
  const allowed = [...named(() => true)].filter((one) => !refused.has(one));
  expect(
    allowed.toSorted().filter((one) => !/ \/v1\/(?:webhooks|subscriptions|deliveries|attempts|replays)\b/.test(one)),
  ).toEqual(['GET /v1/users/me', 'GET /v1/users/me/webhooks', 'GET /v1/users/me/subscriptions'].toSorted());
  const { data: webhook } = await keys['webhooks']!('POST', '/webhooks', { url: 'http://127.0.0.1:2/' });
  expect((await keys['webhooks']!('GET', `/webhooks/${webhook.id}`)).data.secret).toMatch(/^whsec_/);
});

test('a key to read sees no signing secret, own header or credential', async () => {
  const given = { url: 'http://127.0.0.1:2/', headers: { 'x-token': 'hidden-from-readers' } };
  const { data: webhook } = await hw.api('POST', '/webhooks', given);
  const { text, data } = await keys['read']!('GET', `/webhooks/${webhook.id}`);
  expect(data).toMatchObject({ secret: null, headers: { 'x-token': '' } });
  expect(text).not.toMatch(/whsec_|hidden-from-readers/);
  const { status } = await keys['read']!('GET', '/connected_accounts/none', { include_credentials: true });
  expect(status).toBe(403);
});

test('a key to publish sends an event, and cannot read it', async () => {
  const source = await hw.deploy(EMITS);
  await post(source.endpoint, { n: 1 });
  await hw.untilEvents(source.id, 1);
  expect((await keys['publish']!('POST', '/events', { data: { n: 2 } })).status).toBeLessThan(300);
  expect((await keys['publish']!('GET', `/sources/${source.id}/event_summaries`)).status).toBe(403);
});

test('a key that has expired is refused, and does not count; one that expires in the past is not made', async () => {
  const soon = Math.floor(Date.now() / 1000) + 3600;
  const { data: key } = await hw.api('POST', '/api_keys', { name: 'short', expires_at: soon });
  expect(key.expires_at).toBe(soon);
  expect((await hw.as(key.api_key)('GET', '/users/me')).status).toBe(200);
  await hw.sql`update api_keys set expires_at = now() - interval '1 second' where id = ${key.id}`;
  await expect.poll(async () => (await hw.as(key.api_key)('GET', '/users/me')).status).toBe(401);
  const past = await hw.api('POST', '/api_keys', { name: 'past', expires_at: 86_400 });
  expect([past.status, past.text]).toEqual([400, expect.stringContaining('must be in the future')]);
  expect((await hw.api('POST', '/api_keys', { name: 'none', scopes: [] })).status).toBe(400);
});

test('the last key that may do everything for ever stays, however many others there are', async () => {
  const { data: other } = await hw.admin('POST', '/accounts', { name: 'Other' });
  const api = hw.as(other.api_key);
  await api('POST', '/api_keys', { name: 'reader', scopes: ['read'] });
  const { data: all } = await api('GET', '/api_keys');
  const first = all.find(({ name }: { name: string }) => name === 'First key');
  expect((await api('DELETE', `/api_keys/${first.id}`)).status).toBe(409);
  const reader = all.find(({ name }: { name: string }) => name === 'reader');
  expect((await api('DELETE', `/api_keys/${reader.id}`)).status).toBe(204);
});
