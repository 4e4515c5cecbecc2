import { afterEach, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { rawRequest, startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer({ endpointDomain: 'Hooks.example' });
});
afterEach(() => server.server.stop());

const lastEvent = () => JSON.parse(server.accepted.at(-1) ?? 'null') as Record<string, unknown>;

function send(path: string, contentType: string, body: string | Buffer) {
  return rawRequest(server.port, { method: 'POST', path, headers: { 'content-type': contentType }, body: [body] });
}

test('a request becomes exactly { method, path, query, headers, bodyRaw, body }, and its url and rawQuery', async () => {
  const answer = await rawRequest(server.port, {
    method: 'POST',
    path: '/e/known1/a%20b/c?x=1&y=2&y=3&z=%E2%82%AC+%&__proto__=p',
    headers: { 'Content-Type': 'application/json', 'X-Many': ['a', 'b'], Host: 'h' },
    body: ['{"a": 1.0,', ' "b": [null]}'],
  });
  expect([answer.status, answer.text]).toEqual([200, '{"status":"ok"}']);
  expect(server.accepted[0]).toContain('"__proto__":"p"');
  const { query, ...rest } = lastEvent();
  expect({ ...(query as object) }).toMatchObject({ x: '1', y: ['2', '3'], z: '€ %' });
  expect(rest).toEqual({
    method: 'POST',
    path: '/a%20b/c',
    headers: {
      'content-type': 'application/json',
      'x-many': 'a, b',
      host: 'h',
      connection: 'close',
      'transfer-encoding': 'chunked',
    },
    url: 'http://h/e/known1/a%20b/c?x=1&y=2&y=3&z=%E2%82%AC+%&__proto__=p',
    rawQuery: 'x=1&y=2&y=3&z=%E2%82%AC+%&__proto__=p',
    bodyRaw: '{"a": 1.0, "b": [null]}',
    body: { a: 1, b: [null] },
  });
});

test('path is "/" where nothing follows the key, and the query may follow at once', async () => {
  const paths = [];
  for (const path of ['/e/known1', '/e/known1/', '/e/known1?a=1', '/e/known1/?a=1', 'http://other.host/e/known1?a=1']) {
    await rawRequest(server.port, { path });
    const event = lastEvent();
    paths.push([event['path'], event['query']]);
  }
  expect(paths).toEqual([
    ['/', {}],
    ['/', {}],
    ['/', { a: '1' }],
    ['/', { a: '1' }],
    ['/', { a: '1' }],
  ]);
});

test('every method reaches the source, HEAD without a body in the answer', async () => {
  const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PURGE'];
  for (const method of methods) {
    const answer = await rawRequest(server.port, { method, path: '/e/known1' });
    expect([method, answer.status, answer.text]).toEqual([method, 200, method === 'HEAD' ? '' : '{"status":"ok"}']);
  }
  expect(server.accepted.map((event) => (JSON.parse(event) as { method: string }).method)).toEqual(methods);
});

test.each([
  ['application/json', '{"a":1}', { a: 1 }],
  ['Application/JSON; charset=utf-8', '\uFEFF[1]', [1]],
  ['application/vnd.github+json', '"x"', 'x'],
  ['application/json', '{broken', '{broken'],
  ['application/json', 'null', null],
  ['application/x-www-form-urlencoded', 'a=1&b=x+y&b=%zz', { a: '1', b: ['x y', '%zz'] }],
  ['text/plain', 'hello', 'hello'],
  ['application/xml', '<a/>', '<a/>'],
  ['multipart/form-data', 'no boundary', 'no boundary'],
  ['multipart/form-data; boundary=x', 'not a form', 'not a form'],
])('a body of %s %j becomes %j', async (contentType, raw, body) => {
  expect((await send('/e/known1', contentType, raw)).status).toBe(200);
  expect(lastEvent()).toMatchObject({ bodyRaw: raw, body });
});

test('no body is bodyRaw "" and body null', async () => {
  await rawRequest(server.port, { path: '/e/known1', headers: { 'content-type': 'application/json' } });
  expect(lastEvent()).toMatchObject({ bodyRaw: '', body: null });
  await rawRequest(server.port, { method: 'POST', path: '/e/known1', headers: { 'content-length': '0' } });
  expect(lastEvent()).toMatchObject({ bodyRaw: '', body: null });
});

test('a multipart body becomes an object, one key a field, files as base64', async () => {
  const form = new FormData();
  form.append('name', 'Ada');
  form.append('tag', 'a');
  form.append('tag', 'b');
  form.append('__proto__', 'x');
  form.append('photo', new File([new Uint8Array([0, 255, 10])], 'p.png', { type: 'image/png' }));
  const response = await fetch(`${server.url}/e/known1`, { method: 'POST', body: form });
  expect(response.status).toBe(200);
  const body = lastEvent()['body'] as Record<string, unknown>;
  expect(Object.keys(body).sort()).toEqual(['__proto__', 'name', 'photo', 'tag']);
  expect([body['name'], body['tag']]).toEqual(['Ada', ['a', 'b']]);
  const file = { filename: 'p.png', mimetype: 'image/png', size: 3, encoding: 'base64', content: 'AP8K' };
  expect(body['photo']).toEqual(file);
});

test('a form of more fields than the limit stays a string', async () => {
  const field = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n';
  const parts = `${field.repeat(LIMITS.maxFormFields)}--x--\r\n`;
  await send('/e/known1', 'multipart/form-data; boundary="x"', parts);
  expect(lastEvent()['body']).toMatchObject({
    a: expect.objectContaining({ length: LIMITS.maxFormFields }) as unknown,
  });
  await send('/e/known1', 'multipart/form-data; boundary="x"', field + parts);
  expect(lastEvent()['body']).toBe(field + parts);
  const pairs = 'a=1&'.repeat(LIMITS.maxFormFields);
  await send('/e/known1', 'application/x-www-form-urlencoded', pairs);
  expect(lastEvent()['body']).toBe(pairs);
});

test('numbers and hostile keys of a JSON body arrive as they were sent, as text', async () => {
  const raw =
    '{"big":12345678901234567890,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}';
  await send('/e/known1', 'application/json', raw);
  expect(server.accepted[0]).toContain(`"body":${raw}}`);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('a body nested deeper than any stack is accepted like another', async () => {
  const raw = '['.repeat(200_000) + ']'.repeat(200_000);
  expect((await send('/e/known1', 'application/json', raw)).status).toBe(200);
  expect(server.accepted[0]).toContain(raw);
});

test('bytes that are not text are base64, and the event says so', async () => {
  expect((await send('/e/known1', 'application/octet-stream', Buffer.from([0x61, 0xff, 0x00, 0xc3]))).status).toBe(200);
  expect(lastEvent()).toMatchObject({ bodyRaw: 'Yf8Aww==', body: 'Yf8Aww==', isBase64Encoded: true });
  await send('/e/known1', 'application/octet-stream', 'text');
  expect(lastEvent()).not.toHaveProperty('isBase64Encoded');
});

test('a target that names a whole URL gives the URL of its path', async () => {
  await rawRequest(server.port, { path: 'http://other.host/e/known1/b?a=1', headers: { host: 'h' } });
  expect(lastEvent()).toMatchObject({ url: 'http://h/e/known1/b?a=1', rawQuery: 'a=1', path: '/b' });
});

test('endpoints with a host of their own take the whole path', async () => {
  const headers = { host: 'KNOWN1.hooks.example:8080' };
  await rawRequest(server.port, { path: '/e/x?a=1', headers });
  expect(lastEvent()).toMatchObject({ path: '/e/x', query: { a: '1' } });
  const other = await rawRequest(server.port, { path: '/', headers: { host: 'a.known1.hooks.example' } });
  expect(JSON.parse(other.text)).toMatchObject({ name: 'Headwater' });
});
