import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
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
  hw = await sharedHeadwater();
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
  for (const scope of ['read', 'publish', 'webhooks', 'deploy']) {
    const { data } = await hw.api('POST', '/api_keys', { name: scope, scopes: [scope] });
    keys[scope] = hw.as(data.api_key);
  }
});
afterAll(() => hw?.stop());

/** The operations that the key may not use. Streams that it may open have no end. */
async function refusedTo(scope: string): Promise<Set<string>> {
  const refused = new Set<string>();
  for (const { method, path, name } of operations) {
    if (scope === 'read' && method === 'GET' && /sse|stream/i.test(path + name)) continue;
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
  const isRead = (path: string) => path === '/v1/streams/token';
  expect(refused).toEqual(
    named(({ method, path }) => (method !== 'GET' || path === '/v1/webhooks/{id}/tunnel') && !isRead(path)),
  );
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

test('a key to deploy makes and changes code, and reaches no events, secrets or keys', async () => {
  const refused = await refusedTo('deploy');
  const allowed = [...named(() => true)].filter((one) => !refused.has(one)).toSorted();
  expect(allowed).toEqual([
    'GET /v1/components',
    'GET /v1/components/registry',
    'GET /v1/components/registry/{id}',
    'GET /v1/components/{id}',
    'GET /v1/registry/imports/{id}',
    'GET /v1/sources',
    'GET /v1/sources/{id}',
    'GET /v1/users/me',
    'GET /v1/users/me/sources',
    'GET /v1/users/me/workflows',
    'GET /v1/workflows',
    'GET /v1/workflows/{id}',
    'GET /v1/workflows/{id}/deployments',
    'POST /v1/components',
    'POST /v1/components/{id}/publish',
    'POST /v1/registry/import',
    'POST /v1/sources',
    'POST /v1/workflows',
    'POST /v1/workflows/{id}/deploy',
    'PUT /v1/sources/{id}',
    'PUT /v1/workflows/{id}',
  ]);
  expect((await keys['deploy']!('POST', '/sources', { component_code: EMITS })).status).toBe(200);
});

test('a key for one resource reaches that one, and is told so everywhere else', async () => {
  const [source, other] = [await hw.deploy(EMITS), await hw.deploy(EMITS)];
  const { data: key } = await hw.api('POST', '/api_keys', { name: 'one', resource: source.id });
  expect(key).toMatchObject({ resource: source.id, scopes: ['full'] });
  const api = hw.as(key.api_key);
  expect((await api('GET', `/sources/${source.id}`)).status).toBe(200);
  expect((await api('PUT', `/sources/${source.id}`, { name: 'Mine' })).status).toBe(200);
  expect((await api('POST', `/sources/${source.id}/events`, { data: 1 })).status).toBeLessThan(300);
  expect((await api('GET', '/users/me')).status).toBe(200);
  for (const { method, path } of operations) {
    // A token opens what its key may open.
    if (path === '/v1/users/me' || path === '/v1/streams/token') continue;
    const answer = await api(method, path.replace(/^\/v1/, '').replaceAll(/\{\w+\}/g, other.id));
    expect([method, path, answer.status, answer.text]).toEqual([
      method,
      path,
      403,
      expect.stringContaining(`for ${source.id} alone`),
    ]);
  }
  // The same scopes as a node of the previous version reads them.
  const [row] = await hw.sql<{ scopes: string[] }[]>`select scopes from api_keys where id = ${key.id}`;
  expect(row?.scopes).toEqual(['resource:full']);
  const { data: reader } = await hw.api('POST', '/api_keys', { name: 'r', scopes: ['read'], resource: source.id });
  expect((await hw.as(reader.api_key)('PUT', `/sources/${source.id}`, { name: 'x' })).text).toContain('needs full');
  const foreign = await hw.newAccount();
  expect((await foreign.api('POST', '/api_keys', { name: 'x', resource: source.id })).status).toBe(400);
});

test('a rotated key works on beside its successor for the hours that were asked for', async () => {
  const { data: old } = await hw.api('POST', '/api_keys', { name: 'turns', scopes: ['read'] });
  const { data: next } = await hw.api('POST', `/api_keys/${old.id}/rotate`, { overlap_hours: 2 });
  expect(next).toMatchObject({ name: 'turns', scopes: ['read'], expires_at: null });
  for (const key of [old, next]) expect((await hw.as(key.api_key)('GET', '/users/me')).status).toBe(200);
  const { data: keysNow } = await hw.api('GET', '/api_keys', { limit: 100 });
  const ends = keysNow.find(({ id }: { id: string }) => id === old.id).expires_at - Date.now() / 1000;
  expect(ends).toBeGreaterThan(3600);
  expect(ends).toBeLessThanOrEqual(7200);
  const { data: last } = await hw.api('POST', `/api_keys/${next.id}/rotate`, { overlap_hours: 0 });
  expect((await hw.as(next.api_key)('GET', '/users/me')).status).toBe(401);
  expect((await hw.as(last.api_key)('GET', '/users/me')).status).toBe(200);
  expect((await hw.api('POST', `/api_keys/${next.id}/rotate`, {})).status).toBe(404);
  const foreign = await hw.newAccount();
  expect((await foreign.api('POST', `/api_keys/${last.id}/rotate`, {})).status).toBe(404);
});
