import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeadwaterError, LIMITS } from '../shared/src/index.ts';
import { eventually } from './support/eventually.ts';
import { rawRequest, startTestServer, type TestServer } from './support/http-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer({ endpointDomain: 'Hooks.example' });
});
afterEach(() => server.server.stop());

const lastEvent = () => JSON.parse(server.accepted.at(-1) ?? 'null') as Record<string, unknown>;

function send(path: string, contentType: string, body: string | Buffer) {
  return rawRequest(server.port, { method: 'POST', path, headers: { 'content-type': contentType }, body: [body] });
}

test('a request becomes exactly { method, path, query, headers, bodyRaw, body }', async () => {
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

test('a browser may call an endpoint from any page', async () => {
  const headers = { 'access-control-request-headers': 'content-type, x-own', 'access-control-request-method': 'POST' };
  const preflight = await rawRequest(server.port, { method: 'OPTIONS', path: '/e/known1', headers });
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'content-type, x-own',
  });
  expect(preflight.headers['access-control-allow-methods']).toContain('POST');
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

test('bytes that are not UTF-8 become replacement characters, never an error', async () => {
  expect((await send('/e/known1', 'application/octet-stream', Buffer.from([0x61, 0xff, 0x00, 0xc3]))).status).toBe(200);
  expect(lastEvent()).toMatchObject({ bodyRaw: 'a\uFFFD\u0000\uFFFD', body: 'a\uFFFD\u0000\uFFFD' });
});

test('a body of the limit is taken, one byte more is a 413 that its sender can read', async () => {
  const exact = await send('/e/known1', 'text/plain', 'x'.repeat(LIMITS.maxHttpBodyBytes));
  expect(exact.status).toBe(200);
  const body = 'x'.repeat(LIMITS.maxHttpBodyBytes + 1);
  const chunked = await send('/e/known1', 'text/plain', body);
  expect([chunked.status, chunked.headers['content-type']]).toEqual([413, 'application/problem+json']);
  const headers = { 'content-length': String(body.length) };
  const announced = await rawRequest(server.port, { method: 'POST', path: '/e/known1', headers, body: [body] });
  expect(announced.status).toBe(413);
  expect(server.accepted).toHaveLength(1);
});

test('the answer to a body several times too large arrives before the connection is closed', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  const answer = await rawRequest(server.port, { method: 'POST', path: '/e/known1', body: Array(80).fill(chunk) });
  expect(answer.status).toBe(413);
});

test('a sender that never stops is cut off', async () => {
  const socket = connect(server.port, '127.0.0.1');
  const closed = new Promise<number>((resolve) => {
    let sent = 0;
    const chunk = Buffer.alloc(256 * 1024, 'x');
    const pump = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
      sent += chunk.length;
    };
    socket.on('drain', pump);
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(sent));
    socket.resume();
    socket.write(`POST /e/known1 HTTP/1.1\r\nhost: h\r\ncontent-length: ${2 ** 40}\r\n\r\n`);
    pump();
  });
  expect(await closed).toBeLessThan(LIMITS.maxDrainBytes * 3);
});

test('a client that waits for "100 Continue" is refused without sending a large body', async () => {
  const socket = connect(server.port, '127.0.0.1');
  const text = await new Promise<string>((resolve, reject) => {
    let received = '';
    socket.on('data', (data) => (received += data.toString()));
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
    socket.write('POST /e/known1 HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\ncontent-length: 900000000\r\n\r\n');
  });
  expect(text.startsWith('HTTP/1.1 413')).toBe(true);
});

test('unknown endpoints are a 404 problem, whatever the key and however large the body', async () => {
  for (const path of ['/e/nobody', '/e/', '/e', '/e/%00', '/e/known%31', `/e/${'x'.repeat(3000)}`]) {
    const answer = await rawRequest(server.port, { method: 'POST', path, body: ['x'.repeat(600_000)] });
    expect([path.slice(0, 20), answer.status]).toEqual([path.slice(0, 20), 404]);
    expect(JSON.parse(answer.text)).toMatchObject({ status: 404, type: 'urn:headwater:error:not-found' });
  }
});

test('the connection goes on after a refusal', async () => {
  const socket = connect(server.port, '127.0.0.1');
  let received = '';
  socket.on('data', (data) => (received += data.toString()));
  socket.write(`POST /e/nobody HTTP/1.1\r\nhost: h\r\ncontent-length: 600000\r\n\r\n${'x'.repeat(600_000)}`);
  socket.write('GET /e/known1 HTTP/1.1\r\nhost: h\r\n\r\n');
  await eventually(() => received.match(/HTTP\/1\.1 \d+/g)?.length === 2);
  expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  socket.destroy();
});

test('a body that breaks off is never accepted', async () => {
  const socket = connect(server.port, '127.0.0.1');
  socket.write('POST /e/known1 HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\nhalf');
  await new Promise<void>((resolve) => void socket.end(resolve));
  socket.destroy();
  await rawRequest(server.port, { path: '/e/known1' });
  expect(server.accepted).toHaveLength(1);
});

test('endpoints with a host of their own take the whole path', async () => {
  const headers = { host: 'KNOWN1.hooks.example:8080' };
  await rawRequest(server.port, { path: '/e/x?a=1', headers });
  expect(lastEvent()).toMatchObject({ path: '/e/x', query: { a: '1' } });
  const other = await rawRequest(server.port, { path: '/', headers: { host: 'a.known1.hooks.example' } });
  expect(JSON.parse(other.text)).toMatchObject({ name: 'Headwater' });
});

function respondWith(status: number, headers: Record<string, string>, body: string) {
  server.behaviour.response = { ok: true, response: { status, headers, body: Buffer.from(body) } };
}

test('what the run responds is what the client gets', async () => {
  respondWith(201, { 'X-Own': 'yes', 'Content-Type': 'text/csv' }, 'a,b');
  const answer = await rawRequest(server.port, { path: '/e/known1' });
  expect([answer.status, answer.text]).toEqual([201, 'a,b']);
  expect(answer.headers).toMatchObject({ 'x-own': 'yes', 'content-type': 'text/csv', 'content-length': '3' });
});

test('headers of the connection, of the whole host, and such as HTTP cannot carry are not passed on', async () => {
  const hostile = {
    'transfer-encoding': 'chunked',
    'content-length': '1',
    connection: 'upgrade',
    'clear-site-data': '"*"',
    'bad name': 'x',
    'x-split': 'a\r\nset-cookie: b',
    'x-good': 'kept',
    'content-security-policy': "default-src 'self'",
  };
  respondWith(200, hostile, 'body');
  const answer = await rawRequest(server.port, { path: '/e/known1' });
  expect([answer.status, answer.text]).toEqual([200, 'body']);
  expect(answer.headers['x-good']).toBe('kept');
  for (const name of ['transfer-encoding', 'clear-site-data', 'bad name', 'x-split', 'set-cookie']) {
    expect(answer.headers).not.toHaveProperty([name]);
  }
  // A page that a component serves on the shared host must not act as the person who opens it.
  expect(answer.headers['content-security-policy']).toMatch(/^default-src 'self', sandbox(?!.*allow-same-origin)/);
});

test('204 and 304 have no body, and a status that HTTP cannot end with is a 400', async () => {
  respondWith(204, {}, 'ignored');
  expect((await rawRequest(server.port, { path: '/e/known1' })).text).toBe('');
  respondWith(304, {}, '');
  expect((await rawRequest(server.port, { path: '/e/known1' })).status).toBe(304);
  respondWith(101, {}, '');
  expect((await rawRequest(server.port, { path: '/e/known1' })).status).toBe(400);
  respondWith(5000, {}, '');
  expect((await rawRequest(server.port, { path: '/e/known1' })).status).toBe(500);
});

test('a run that ends without the answer that was due is a 400 with a line that says so', async () => {
  server.behaviour.response = { ok: false, message: 'The run ended without calling respond' };
  const answer = await rawRequest(server.port, { path: '/e/known1' });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({ error: 'The run ended without calling respond' });
});

test('what could not be stored is never answered with a 2xx', async () => {
  server.behaviour.acceptFailure = new HeadwaterError('UNAVAILABLE', 'Too busy');
  expect((await rawRequest(server.port, { path: '/e/known1' })).status).toBe(503);
  server.behaviour.acceptFailure = new Error('connection to 10.0.0.1 lost');
  const answer = await rawRequest(server.port, { path: '/e/known1' });
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain('10.0.0.1');
});

test('stop waits for requests in flight and closes idle connections', async () => {
  let answerRun: (value: undefined) => void = () => undefined;
  const held = new Promise<undefined>((resolve) => (answerRun = resolve));
  const accept = server.engine.ingest.accept;
  server.engine.ingest.accept = async (route, event) => {
    const accepted = await accept(route, event);
    await held;
    return accepted;
  };
  const idle = connect(server.port, '127.0.0.1');
  await new Promise((resolve) => idle.once('connect', resolve));
  const idleClosed = new Promise((resolve) => idle.once('close', resolve));
  idle.resume();
  const inFlight = fetch(`${server.url}/e/known1`);
  await eventually(() => server.accepted.length === 1);
  const stopped = server.server.stop();
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow('fetch failed');
  answerRun(undefined);
  expect((await inFlight).status).toBe(200);
  await Promise.all([stopped, idleClosed]);
});

test('what is not HTTP gets a 400, and headers over the limit a 431', async () => {
  const answers = [];
  for (const text of [
    'nonsense\r\n\r\n',
    `GET / HTTP/1.1\r\nhost: h\r\nx: ${'x'.repeat(LIMITS.maxHeaderBytes)}\r\n\r\n`,
  ]) {
    const socket = connect(server.port, '127.0.0.1');
    socket.write(text);
    answers.push(
      await new Promise<string>((resolve) => {
        let received = '';
        socket.on('data', (data) => (received += data.toString()));
        socket.on('error', () => undefined);
        socket.on('close', () => resolve(received));
      }),
    );
  }
  expect(answers.map((text) => text.slice(0, 12))).toEqual(['HTTP/1.1 400', 'HTTP/1.1 431']);
});
