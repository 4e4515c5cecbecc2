import { afterEach, beforeEach, expect, test } from 'vitest';
import { HeadwaterError } from '../../shared/src/index.ts';
import { rawRequest, startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.server.stop());

test('a browser may call an endpoint from any page', async () => {
  const headers = { 'access-control-request-headers': 'content-type, x-own', 'access-control-request-method': 'POST' };
  const preflight = await rawRequest(server.port, { method: 'OPTIONS', path: '/e/known1', headers });
  expect(preflight.headers).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'content-type, x-own',
  });
  expect(preflight.headers['access-control-allow-methods']).toContain('POST');
});

function respondWith(status: number, headers: Record<string, string | string[]>, body: string) {
  server.behaviour.response = { ok: true, response: { status, headers, body: Buffer.from(body) } };
}

test('the client gets the response of the run', async () => {
  respondWith(201, { 'X-Own': 'yes', 'Content-Type': 'text/csv' }, 'a,b');
  const answer = await rawRequest(server.port, { path: '/e/known1' });
  expect([answer.status, answer.text]).toEqual([201, 'a,b']);
  expect(answer.headers).toMatchObject({ 'x-own': 'yes', 'content-type': 'text/csv', 'content-length': '3' });
});

test('every cookie that the run sets reaches the client in a line of its own', async () => {
  respondWith(200, { 'set-cookie': ['a=1; Path=/', 'b=2, 3'] }, '');
  const answer = await rawRequest(server.port, { path: '/e/known1' });
  expect(answer.headers['set-cookie']).toEqual(['a=1; Path=/e/known1', 'b=2, 3; Path=/e/known1']);
});

test('a cookie of more attributes than there are loses the rest of them', async () => {
  respondWith(200, { 'set-cookie': [`a=1; Secure${';'.repeat(10_000)}; Path=/; HttpOnly`] }, '');
  const { headers } = await rawRequest(server.port, { path: '/e/known1' });
  expect(headers['set-cookie']).toEqual([expect.stringMatching(/^a=1; Secure[; ]{1,200}; Path=\/e\/known1$/)]);
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

test('an endpoint with a host of its own cannot set or delete cookies of the hosts beside it', async () => {
  const own = await startTestServer({ endpointDomain: 'hooks.example' });
  const cookies = ['a=1; Domain=hooks.example; Path=/x; Secure', 'b=2; DOMAIN = .example;HttpOnly', 'c=3; domain'];
  const headers = { 'Clear-Site-Data': '"cookies"', 'Set-Cookie': cookies, nel: '{}' };
  own.behaviour.response = { ok: true, response: { status: 200, headers, body: new Uint8Array() } };
  const answer = await rawRequest(own.port, { path: '/', headers: { host: 'known1.hooks.example' } });
  await own.server.stop();
  expect(answer.headers).not.toHaveProperty(['clear-site-data']);
  expect(answer.headers).toMatchObject({ nel: '{}', 'set-cookie': ['a=1; Path=/x; Secure', 'b=2; HttpOnly', 'c=3'] });
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

test('a request that is kept, and whose answer is not there, is a 202 that says why', async () => {
  server.behaviour.response = { ok: false, message: 'This node stops; the request is kept', request: 'kept' };
  const answer = await rawRequest(server.port, { path: '/e/known1' });
  expect([answer.status, JSON.parse(answer.text)]).toEqual([
    202,
    { status: 'accepted', detail: 'This node stops; the request is kept' },
  ]);
  expect(answer.headers).toMatchObject({ 'x-headwater-run': 'inv_1', 'access-control-allow-origin': '*' });
});

test('a request that has to come back later is told when, and why', async () => {
  server.behaviour.admitFailure = new HeadwaterError('RATE_LIMITED', 'Too fast', {
    retryAfterSeconds: 3,
    limit: { name: 'maxRequestsPerSecond', value: 5, used: 6 },
  });
  const answer = await rawRequest(server.port, { method: 'POST', path: '/e/known1', body: ['x'.repeat(1_000)] });
  expect([answer.status, answer.headers['retry-after']]).toEqual([429, '3']);
  expect(JSON.parse(answer.text)).toMatchObject({
    error: 'Too fast',
    retry_after_seconds: 3,
    limit: { name: 'maxRequestsPerSecond', value: 5, used: 6 },
  });
  expect(server.accepted).toEqual([]);
});

test('a request that could not be stored is never answered with a 2xx', async () => {
  server.behaviour.acceptFailure = new HeadwaterError('UNAVAILABLE', 'Too busy');
  expect((await rawRequest(server.port, { path: '/e/known1' })).status).toBe(503);
  server.behaviour.acceptFailure = new Error('connection to 10.0.0.1 lost');
  const answer = await rawRequest(server.port, { path: '/e/known1' });
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain('10.0.0.1');
});
