import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HeadwaterError, LIMITS } from '../shared/src/index.ts';
import {
  ACCOUNT_ID,
  ADMIN_KEY,
  API_KEY,
  type CallInit,
  createMemoryLog,
  MADE_AT_SECONDS,
  startTestServer,
  type TestServer,
} from './support/http-server.ts';

let server: TestServer;
const log = createMemoryLog();

beforeAll(async () => {
  server = await startTestServer({ log });
});
afterAll(() => server.server.stop());
beforeEach(() => {
  server.calls.length = 0;
  server.behaviour.fail = undefined;
  log.lines.length = 0;
});

async function problemOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = (await response.json()) as Record<string, unknown>;
  expect(problem).toMatchObject({ status: response.status, error: problem['detail'] });
  expect(problem['request_id']).toBe(response.headers.get('x-request-id'));
  return problem;
}

const json = (body: unknown): CallInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

test('a webhook is made from the query string alone, with no body', async () => {
  const response = await server.call('/v1/webhooks?url=https%3A%2F%2Fexample.com%3A8443%2Fhook&name=a&description=b', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    data: {
      id: 'wh_1',
      user_id: 'u_user',
      name: null,
      description: null,
      url: 'https://example.com/hook',
      format: 'raw',
      secret: 'whsec_c2VjcmV0',
      active: true,
      created_at: MADE_AT_SECONDS,
      updated_at: MADE_AT_SECONDS,
    },
  });
  const who = { accountId: ACCOUNT_ID, userId: 'u_user' };
  expect(server.calls).toEqual([
    { name: 'webhooks.create', args: [who, { url: 'https://example.com:8443/hook', name: 'a', description: 'b' }] },
  ]);
});

test('the body wins over the query string, and each adds what the other leaves out', async () => {
  await server.call('/v1/webhooks?url=https://query.example/&name=query', json({ url: 'https://body.example/' }));
  expect(server.calls[0]?.args[1]).toEqual({ url: 'https://body.example/', name: 'query' });
});

test('a JSON body is read whatever content type is announced, a form as a form', async () => {
  for (const contentType of ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream']) {
    const body = JSON.stringify({ url: 'https://body.example/' });
    await server.call('/v1/webhooks', { method: 'POST', headers: { 'content-type': contentType }, body });
  }
  await server.call('/v1/webhooks', { method: 'POST', body: new URLSearchParams({ url: 'https://body.example/' }) });
  expect(server.calls.map((call) => call.args[1])).toEqual(
    Array.from({ length: 4 }, () => ({ url: 'https://body.example/' })),
  );
});

test('everything that is wrong with the parameters is reported at once, by name', async () => {
  const response = await server.call(
    '/v1/webhooks',
    json({ url: 'ftp://example.com', name: 7, format: 'xml', description: 'a\u0000b', other: {} }),
  );
  expect(response.status).toBe(400);
  const problem = await problemOf(response);
  const errors = problem['errors'] as { path: string; message: string }[];
  expect(errors.map((error) => error.path).sort()).toEqual(['description', 'format', 'name', 'url']);
  expect(problem['type']).toBe('urn:headwater:error:invalid-request');
  expect(server.calls).toEqual([]);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=101', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=ten', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['limit=1e400', 'limit'],
  ['limit=99999999999999999999999', 'limit'],
  ['after=%00', 'after'],
])('a list with %s is refused with the name of the parameter', async (query, path) => {
  const response = await server.call(`/v1/users/me/sources?${query}`);
  expect(response.status).toBe(400);
  expect((await problemOf(response))['errors']).toEqual([expect.objectContaining({ path })]);
});

test('broken JSON is refused with its position', async () => {
  const response = await server.call('/v1/webhooks', { method: 'POST', body: '{"url": "a", bad}' });
  expect(response.status).toBe(400);
  expect((await problemOf(response))['detail']).toContain('unexpected "b" at position 13');
});

test('configured_props come as JSON text in the query string', async () => {
  const props = encodeURIComponent('{"timer":{"intervalSeconds":60}}');
  const response = await server.call(`/v1/sources?component_id=sc_1&configured_props=${props}`, { method: 'POST' });
  expect(response.status).toBe(200);
  expect(server.calls[0]?.args[1]).toEqual({
    componentId: 'sc_1',
    configuredProps: { timer: { intervalSeconds: 60 } },
  });
  const broken = await server.call('/v1/sources?component_id=sc_1&configured_props=%7Bx', { method: 'POST' });
  expect((await problemOf(broken))['errors']).toEqual([expect.objectContaining({ path: 'configured_props' })]);
});

test('props that the database could not keep are refused where they are', async () => {
  const response = await server.call(
    '/v1/sources',
    json({ component_id: 'sc_1', configured_props: { list: ['fine', { deep: 'a\u0000' }], key: 1 } }),
  );
  expect(response.status).toBe(400);
  expect((await problemOf(response))['errors']).toEqual([
    expect.objectContaining({ path: 'configured_props.list.1.deep' }),
  ]);
});

test('a source needs exactly one way to its component', async () => {
  const none = await problemOf(await server.call('/v1/sources', { method: 'POST' }));
  const both = await problemOf(await server.call('/v1/sources', json({ component_id: 'sc_1', component_code: 'x' })));
  expect([none['status'], both['status']]).toEqual([400, 400]);
  await server.call('/v1/sources', json({ component_code: 'x', component_url: 'https://example.com/c.js' }));
  expect(server.calls).toHaveLength(1);
});

test('a list has the engine’s cursors, and passes on those it was given', async () => {
  const response = await server.call('/v1/users/me/webhooks?limit=2&after=abc');
  const body = (await response.json()) as { page_info: unknown; data: Record<string, unknown>[] };
  expect(body.page_info).toEqual({ total_count: 7, count: 1, start_cursor: 'first', end_cursor: 'last' });
  expect(body.data[0]).not.toHaveProperty('secret');
  expect(server.calls[0]?.args[1]).toEqual({ limit: 2, after: 'abc' });
});

test('lists are the same under users/me, workspaces and orgs, and only for one’s own account', async () => {
  const texts = [];
  for (const prefix of ['/v1', '/v1/users/me', `/v1/workspaces/${ACCOUNT_ID}`, `/v1/orgs/${ACCOUNT_ID}`]) {
    const response = await server.call(`${prefix}/subscriptions`);
    expect(response.status).toBe(200);
    texts.push(await response.text());
  }
  expect(new Set(texts).size).toBe(1);
  expect((await server.call('/v1/workspaces/o_other/sources')).status).toBe(404);
});

test('include keeps and exclude drops fields of data', async () => {
  const kept = (await (await server.call('/v1/sources/dc_1?include=id,name')).json()) as unknown;
  expect(kept).toEqual({ data: { id: 'dc_1', name: 'Bin' } });
  const rest = (await (await server.call('/v1/sources?exclude=configured_props,id')).json()) as { data: object[] };
  expect(Object.keys(rest.data[0] ?? {})).toEqual(expect.not.arrayContaining(['configured_props', 'id']));
});

test('event data is answered as it was emitted, digit for digit, and cut when it is long', async () => {
  server.behaviour.eventData = '{"big":12345678901234567890,"deep":' + '['.repeat(9000) + ']'.repeat(9000) + '}';
  const full = await (await server.call('/v1/sources/dc_1/event_summaries?expand=event')).text();
  expect(full).toContain(`"event":${server.behaviour.eventData},`);
  server.behaviour.eventData = JSON.stringify({ text: '€'.repeat(1000) });
  const cut = (await (await server.call('/v1/sources/dc_1/event_summaries')).json()) as {
    data: { event: string; event_truncated: boolean; metadata: object }[];
  };
  const [record] = cut.data;
  expect(record?.event_truncated).toBe(true);
  expect(server.behaviour.eventData.startsWith(record?.event ?? 'x')).toBe(true);
  expect(Buffer.byteLength(record?.event ?? '')).toBeGreaterThan(LIMITS.summaryEventBytes - 4);
  expect(Buffer.byteLength(record?.event ?? '')).toBeLessThanOrEqual(LIMITS.summaryEventBytes);
  expect(record?.metadata).toMatchObject({ emitter_id: 'dc_1', id: 'a1', name: '', summary: null, ts: null });
});

test('deletes of resources answer 204, of events 202, both without a body', async () => {
  const answers = [];
  for (const path of ['/v1/sources/dc_1', '/v1/webhooks/wh_1', '/v1/api_keys/key_1', '/v1/sources/dc_1/events']) {
    const response = await server.call(path, { method: 'DELETE' });
    answers.push([response.status, await response.text()]);
  }
  const query = '/v1/subscriptions?emitter_id=dc_1&listener_id=wh_1';
  answers.push([(await server.call(query, { method: 'DELETE' })).status, '']);
  expect(answers).toEqual([
    [204, ''],
    [204, ''],
    [204, ''],
    [202, ''],
    [204, ''],
  ]);
  expect(server.calls.at(-1)?.args[1]).toEqual({ emitterId: 'dc_1', listenerId: 'wh_1' });
});

test('run passes on any JSON value as the event, and none as none', async () => {
  await server.call('/v1/sources/dc_1/run', { method: 'POST' });
  await server.call('/v1/sources/dc_1/run', json({ event: { a: [null] } }));
  await server.call('/v1/sources/dc_1/run', json({ event: null }));
  expect(server.calls.map((call) => call.args[2])).toEqual([undefined, { a: [null] }, null]);
});

test('without a valid key the answer is 401 and says which scheme is asked for', async () => {
  const headers = [
    '',
    'Bearer',
    'Bearer wrong',
    `Basic ${API_KEY}`,
    `Bearer ${'x'.repeat(5000)}`,
    `Bearer ${API_KEY} x`,
  ];
  for (const authorization of headers) {
    const response = await fetch(`${server.url}/v1/users/me`, {
      headers: authorization === '' ? {} : { authorization },
    });
    expect([authorization.slice(0, 20), response.status]).toEqual([authorization.slice(0, 20), 401]);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    await problemOf(response);
  }
  expect((await server.call('/v1/users/me')).status).toBe(200);
});

test('accounts are made with the admin key only', async () => {
  const withKey = (key: string) =>
    server.call('/v1/accounts?name=New', { method: 'POST', headers: { authorization: `Bearer ${key}` } });
  expect((await withKey(API_KEY)).status).toBe(403);
  expect((await withKey('wrong')).status).toBe(401);
  const response = await withKey(ADMIN_KEY);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ data: { id: 'o_new', name: 'New', user_id: 'u_new', api_key: 'hw_x' } });
  const me = await server.call('/v1/users/me', { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  expect(me.status).toBe(401);
});

test('an unknown path is a 404 and a known one with another method a 405 that names those it has', async () => {
  const unknown = await server.call('/v1/nothing');
  expect(unknown.status).toBe(404);
  await problemOf(unknown);
  const wrong = await server.call('/v1/sources/dc_1', { method: 'PATCH' });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('allow')).toBe('GET, PUT, DELETE');
  await problemOf(wrong);
});

test('an id that no resource can have is a 404', async () => {
  for (const id of ['%00', 'a%00b', 'x'.repeat(5000), '%ff%fe', '%']) {
    const response = await server.call(`/v1/sources/${id}`);
    expect([id.slice(0, 9), response.status]).toEqual([id.slice(0, 9), 404]);
  }
});

test('a body over the limit is a 413, announced or in chunks', async () => {
  const big = 'x'.repeat(LIMITS.maxApiBodyBytes + 1);
  const announced = await server.call('/v1/components', { method: 'POST', body: big });
  expect(announced.status).toBe(413);
  await problemOf(announced);
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(big));
      controller.close();
    },
  });
  const chunked = await server.call('/v1/components', { method: 'POST', body, duplex: 'half' });
  expect(chunked.status).toBe(413);
});

test('what the engine refuses keeps its code, message and lines', async () => {
  const fields = [{ path: 'component_code', message: 'bad', file: 'component.js', line: 3, column: 1 }];
  server.behaviour.fail = new HeadwaterError('INVALID_COMPONENT', 'The code does not load', { fields });
  const response = await server.call('/v1/components', json({ component_code: 'x' }));
  expect(response.status).toBe(400);
  expect(await problemOf(response)).toMatchObject({ detail: 'The code does not load', errors: fields });
});

test('an unexpected failure tells the caller nothing but the request id, which the log has too', async () => {
  server.behaviour.fail = new Error('secret of the database');
  const response = await server.call('/v1/users/me', { headers: { 'x-request-id': 'my-request-1' } });
  expect(response.status).toBe(500);
  const problem = await problemOf(response);
  expect(problem['request_id']).toBe('my-request-1');
  expect(JSON.stringify(problem)).not.toContain('secret');
  const line = log.lines.find((entry) => entry.level === 'error');
  expect(line?.fields).toMatchObject({ request_id: 'my-request-1', err: server.behaviour.fail });
});

test('no log line holds a key', async () => {
  await server.call('/v1/users/me');
  await server.call('/v1/accounts?name=x', { method: 'POST', headers: { authorization: `Bearer ${ADMIN_KEY}` } });
  expect(log.lines.length).toBeGreaterThan(0);
  expect(JSON.stringify(log.lines)).not.toMatch(/hw_/);
});

test('healthz follows the engine, and does not wait for it forever', async () => {
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  server.behaviour.ready = () => Promise.reject(new Error('gone'));
  expect((await fetch(`${server.url}/healthz`)).status).toBe(503);
  server.behaviour.ready = () => new Promise(() => undefined);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(503);
  server.behaviour.ready = async () => true;
});

test('metrics name routes, never ids', async () => {
  await server.call('/v1/sources/dc_1');
  await fetch(`${server.url}/e/known-key-of-a-tenant`);
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).toContain('headwater_test 1');
  expect(text).toContain('route="/v1/sources/{id}"');
  expect(text).toContain('headwater_ingest_requests_total{status="200"} 1');
  expect(text).not.toContain('dc_1');
  expect(text).not.toContain('known-key');
});
