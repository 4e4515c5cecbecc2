import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import {
  ACCOUNT_ID,
  MADE_AT_SECONDS,
  postJson,
  readProblem,
  startTestServer,
  type TestServer,
} from '../support/http-server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());
beforeEach(() => {
  server.calls.length = 0;
  server.behaviour.fail = undefined;
});

test('a webhook is made from the query string alone, with no body', async () => {
  const response = await server.call('/v1/webhooks?url=https%3A%2F%2Fexample.com%3A8443%2Fhook&name=a&description=b', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    data: {
      id: 'wh_1',
      user_id: 'u_user',
      name: null,
      description: null,
      url: 'https://example.com/hook',
      format: 'raw',
      secret: 'whsec_c2VjcmV0',
      previous_until: null,
      headers: {},
      retry_schedule_seconds: null,
      timeout_seconds: null,
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

test('a value shown as null may be sent back, and clears', async () => {
  const body = { url: 'https://body.example/', name: null, description: null };
  expect((await server.call('/v1/webhooks', postJson(body))).status).toBe(200);
  expect(server.calls.at(-1)?.args[1]).toEqual({ url: body.url, name: '', description: '' });
  const subscription = { emitter_id: 'dc_1', listener_id: 'wh_1', event_name: null };
  expect((await server.call('/v1/subscriptions', postJson(subscription))).status).toBe(200);
  expect(server.calls.at(-1)?.args[1]).toEqual({ emitterId: 'dc_1', listenerId: 'wh_1', eventName: '' });
});

test('an empty value in the query string counts as not given', async () => {
  expect((await server.call('/v1/webhooks?limit=&after=&before=&include=')).status).toBe(200);
  expect(server.calls.at(-1)?.args[1]).toEqual({ limit: LIMITS.defaultPageSize });
  expect((await server.call('/v1/sources/dc_1/events?start_id=&end_id=', { method: 'DELETE' })).status).toBe(202);
});

test('include and exclude take names with spaces between them', async () => {
  const answer = await server.call(`/v1/webhooks/wh_1?include=${encodeURIComponent('id, url, secret')}&exclude=secret`);
  expect(await answer.json()).toEqual({ data: { id: 'wh_1', url: 'https://example.com/hook' } });
});

test('a number out of its bounds is answered with the bound', async () => {
  const told = async (limit: string) => (await readProblem(await server.call(`/v1/webhooks?limit=${limit}`))).errors;
  expect(await told('0')).toEqual([{ path: 'limit', message: 'must be at least 1' }]);
  expect(await told('101')).toEqual([{ path: 'limit', message: `must be at most ${LIMITS.maxPageSize}` }]);
  expect(await told('1.5')).toEqual([{ path: 'limit', message: 'must be a whole number' }]);
  expect(await told('many')).toEqual([{ path: 'limit', message: 'must be of type number, not string' }]);
});

test('the body wins over the query string, and each adds what the other leaves out', async () => {
  await server.call('/v1/webhooks?url=https://query.example/&name=query', postJson({ url: 'https://body.example/' }));
  expect(server.calls[0]?.args[1]).toEqual({ url: 'https://body.example/', name: 'query' });
});

test('a JSON body is read under any content type, a form as a form', async () => {
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
    postJson({ url: 'ftp://example.com', name: 7, format: 'xml', description: 'a\u0000b', other: {} }),
  );
  expect(response.status).toBe(400);
  const problem = await readProblem(response);
  const errors = problem['errors'] as { path: string; message: string }[];
  expect(errors.map((error) => error.path).sort()).toEqual(['description', 'format', 'name', 'other', 'url']);
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
  expect((await readProblem(response))['errors']).toEqual([expect.objectContaining({ path })]);
});

test('broken JSON is refused with its position', async () => {
  const response = await server.call('/v1/webhooks', { method: 'POST', body: '{"url": "a", bad}' });
  expect(response.status).toBe(400);
  expect((await readProblem(response))['detail']).toContain('unexpected "b" at position 13');
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
  expect((await readProblem(broken))['errors']).toEqual([expect.objectContaining({ path: 'configured_props' })]);
});

test('props that the database could not keep are refused where they are', async () => {
  const response = await server.call(
    '/v1/sources',
    postJson({ component_id: 'sc_1', configured_props: { list: ['fine', { deep: 'a\u0000' }], key: 1 } }),
  );
  expect(response.status).toBe(400);
  expect((await readProblem(response))['errors']).toEqual([
    expect.objectContaining({ path: 'configured_props.list.1.deep' }),
  ]);
});

test('a source needs exactly one way to its component', async () => {
  const none = await readProblem(await server.call('/v1/sources', { method: 'POST' }));
  const both = await readProblem(
    await server.call('/v1/sources', postJson({ component_id: 'sc_1', component_code: 'x' })),
  );
  expect([none['status'], both['status']]).toEqual([400, 400]);
  await server.call('/v1/sources', postJson({ component_code: 'x', component_url: 'https://example.com/c.js' }));
  expect(server.calls).toHaveLength(1);
});

test.each([
  ['[]', 'has more than 100000 lists and objects'],
  ['{}', 'has more than 100000 lists and objects'],
  ['0', 'has more than 500000 values'],
])('millions of %s are refused before they are parsed', async (value, message) => {
  const body = `{"event":[${`${value},`.repeat(5_000_000 / (value.length + 1))}"\\",[["]}`;
  const response = await server.call('/v1/sources/dc_1/run', { method: 'POST', body });
  expect(response.status).toBe(400);
  expect((await readProblem(response))['errors']).toEqual([{ path: 'body', message }]);
});

test('brackets and commas within text are text, however many there are', async () => {
  const event = '[{,"\\'.repeat(200_000);
  const response = await server.call('/v1/sources/dc_1/run', { method: 'POST', body: JSON.stringify({ event }) });
  expect(response.status).toBe(200);
});

test.each(['configured_props', 'event'])(
  '%s nested beyond the limit is refused, in the body and in the query',
  async (name) => {
    const [path, rest] = name === 'event' ? ['/v1/sources/dc_1/run', ''] : ['/v1/sources', '"component_id":"sc_1",'];
    const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const sent = (levels: number) =>
      server.call(path, { method: 'POST', body: `{${rest}"${name}":${nested(levels)}}` });
    expect((await sent(LIMITS.maxJsonDepth)).status).toBe(200);
    for (const levels of [LIMITS.maxJsonDepth + 1, 90_000]) {
      const response = await sent(levels);
      expect(response.status).toBe(400);
      expect((await readProblem(response))['errors']).toEqual([expect.objectContaining({ path: name })]);
    }
    const query = `?${name === 'event' ? '' : 'component_id=sc_1&'}${name}=${encodeURIComponent(nested(LIMITS.maxJsonDepth + 1))}`;
    expect((await server.call(path + query, { method: 'POST' })).status).toBe(400);
  },
);
