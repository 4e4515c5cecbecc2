import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HeadwaterError, LIMITS } from '../../shared/src/index.ts';
import {
  ADMIN_KEY,
  API_KEY,
  createMemoryLog,
  postJson,
  readProblem,
  startTestServer,
  type TestServer,
} from '../support/http-server.ts';

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
    await readProblem(response);
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
  expect([me.status, await me.text()]).toEqual([401, expect.stringContaining("This is the operator's key")]);
});

test('an unknown path is a 404 and a known one with another method a 405 that names those it has', async () => {
  const unknown = await server.call('/v1/nothing');
  expect(unknown.status).toBe(404);
  await readProblem(unknown);
  const wrong = await server.call('/v1/sources/dc_1', { method: 'PATCH' });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('allow')).toBe('GET, PUT, DELETE');
  await readProblem(wrong);
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
  const value = LIMITS.maxApiBodyBytes;
  const limit = { name: 'maxApiBodyBytes', value, used: value + 1 };
  expect(await readProblem(announced)).toMatchObject({ limit });
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(big));
      controller.close();
    },
  });
  const chunked = await server.call('/v1/components', { method: 'POST', body, duplex: 'half' });
  expect(chunked.status).toBe(413);
  expect(await readProblem(chunked)).toMatchObject({
    limit: { name: 'maxApiBodyBytes', value, used: expect.any(Number) },
  });
});

test('a compressed body is a 415 that says so, not JSON that is broken', async () => {
  const body = gzipSync(JSON.stringify({ component_code: 'x' }));
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const response = await server.call('/v1/components', { method: 'POST', body, headers });
  expect(response.status).toBe(415);
  expect(await readProblem(response)).toMatchObject({ detail: expect.stringContaining('content-encoding') });
  const plain = { ...postJson({ component_code: 'x' }), headers: { 'content-encoding': 'identity' } };
  expect((await server.call('/v1/components', plain)).status).toBe(200);
});

test('a refusal of the engine keeps its code, message and lines', async () => {
  const fields = [{ path: 'component_code', message: 'bad', file: 'component.js', line: 3, column: 1 }];
  server.behaviour.fail = new HeadwaterError('INVALID_COMPONENT', 'The code does not load', { fields });
  const response = await server.call('/v1/components', postJson({ component_code: 'x' }));
  expect(response.status).toBe(400);
  expect(await readProblem(response)).toMatchObject({ detail: 'The code does not load', errors: fields });
});

test('an answer has the first of thousands of errors and the beginning of long texts', async () => {
  const long = 'x'.repeat(LIMITS.maxProblemTextChars + 1);
  const fields = Array.from({ length: LIMITS.maxProblemErrors + 1 }, (_, n) => ({ path: `p${n}`, message: long }));
  server.behaviour.fail = new HeadwaterError('INVALID_PROPS', long, { fields });
  const problem = await readProblem(await server.call('/v1/components', postJson({ component_code: 'x' })));
  const cut = `${long.slice(1)}…`;
  const errors = fields.slice(1).map((_, n) => ({ path: `p${n}`, message: cut }));
  expect(problem).toMatchObject({ detail: cut, errors });
});

test('a database that is away or full is a 503 that says when to try again, and not where it is', async () => {
  const lost = Object.assign(new Error('write CONNECTION_CLOSED 10.0.0.1:5432'), { code: 'CONNECTION_CLOSED' });
  const full = Object.assign(new Error('could not extend file at 10.0.0.1'), { code: '53100' });
  for (const failure of [lost, new Error('Failed query', { cause: lost }), full]) {
    server.behaviour.fail = failure;
    const response = await server.call('/v1/components', postJson({ component_code: 'x' }));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await response.text()).not.toContain('10.0.0.1');
  }
});

test('an unexpected failure tells the caller nothing but the request id, which the log has too', async () => {
  server.behaviour.fail = new Error('secret of the database');
  const response = await server.call('/v1/users/me', { headers: { 'x-request-id': 'my-request-1' } });
  expect(response.status).toBe(500);
  const problem = await readProblem(response);
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
