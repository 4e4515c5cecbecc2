import type { RequestListener } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { accountLimits, type AccountLimits, LIMITS } from '@headwater/shared';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import type { FetchRequest } from '../../../sandbox-runtime/src/sandbox-types.ts';
import { startReceiver } from '../../support/receiver.ts';
import { serveRequests } from '../../support/serve-requests.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

async function serve(listener: RequestListener): Promise<string> {
  const { url, stop } = await serveRequests(listener);
  stops.push(stop);
  return url;
}

function fetcher(limits: Partial<AccountLimits> = {}) {
  const guest = createGuestFetch({ egress: createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [] }) });
  stops.push(guest.stop);
  return (url: string, request: Partial<FetchRequest> = {}, signal = new AbortController().signal) =>
    guest.fetch(
      { id: 'o_1', limits: accountLimits(limits) },
      { url, method: 'GET', headers: [], redirect: 'follow', ...request },
      signal,
    );
}

async function receiver() {
  const started = await startReceiver();
  stops.push(started.stop);
  return started;
}

const text = (outcome: { body?: Uint8Array }) => Buffer.from(outcome.body ?? []).toString();

test('a request arrives as it was made, and its response as it was sent', async () => {
  const { url, requests, script } = await receiver();
  script({ status: 201, headers: { 'content-type': 'text/plain', 'x-a': 'b' }, body: 'made' });
  const outcome = await fetcher()(`${url}/path?q=1`, {
    method: 'post',
    headers: [
      ['X-Custom', 'yes'],
      ['content-length', '999'],
      ['connection', 'close'],
    ],
    body: Buffer.from('hello'),
  });
  expect(outcome).toMatchObject({
    ok: true,
    status: 201,
    statusText: 'Created',
    url: `${url}/path?q=1`,
    redirected: false,
  });
  expect(outcome.ok && text(outcome)).toBe('made');
  expect(outcome.ok && outcome.headers).toContainEqual(['x-a', 'b']);
  expect(requests[0]).toMatchObject({ method: 'POST', url: '/path?q=1', body: 'hello' });
  expect(requests[0]?.headers).toMatchObject({ 'x-custom': 'yes', 'content-length': '5', connection: 'keep-alive' });
  expect(requests[0]?.headers['user-agent']).toMatch(/^Headwater\/\d+\.\d+\.\d+$/);
});

test.each([
  ['GET', 301, 'GET', ''],
  ['POST', 301, 'GET', ''],
  ['POST', 302, 'GET', ''],
  ['PUT', 302, 'PUT', 'body'],
  ['POST', 303, 'GET', ''],
  ['PUT', 303, 'GET', ''],
  ['HEAD', 303, 'HEAD', ''],
  ['POST', 307, 'POST', 'body'],
  ['POST', 308, 'POST', 'body'],
])('a %s that is redirected with %i goes on as %s', async (method, status, expected, body) => {
  const { url, requests, script } = await receiver();
  script({ status, headers: { location: '/next#part' } });
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const outcome = await fetcher()(`${url}/first`, {
    method,
    headers: hasBody ? [['content-type', 'text/plain']] : [],
    ...(hasBody ? { body: Buffer.from('body') } : {}),
  });
  expect(outcome).toMatchObject({ ok: true, status: 200, redirected: true, url: `${url}/next#part` });
  expect(requests[1]).toMatchObject({ method: expected, url: '/next', body });
  expect(requests[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/plain');
});

test('credentials go along within an origin and stay behind when it changes', async () => {
  const first = await receiver();
  const second = await receiver();
  first.script(
    { status: 302, headers: { location: '/same' } },
    { status: 302, headers: { location: `${second.url}/other` } },
  );
  const headers: [string, string][] = [
    ['authorization', 'Bearer x'],
    ['cookie', 'a=b'],
    ['x-kept', '1'],
  ];
  expect(await fetcher()(first.url, { headers })).toMatchObject({ ok: true, url: `${second.url}/other` });
  expect(first.requests[1]?.headers).toMatchObject({ authorization: 'Bearer x', cookie: 'a=b' });
  expect(second.requests[0]?.headers).not.toHaveProperty('authorization');
  expect(second.requests[0]?.headers).not.toHaveProperty('cookie');
  expect(second.requests[0]?.headers['x-kept']).toBe('1');
});

test.each([
  'http://10.0.0.1/',
  'http://[::1]/',
  'http://169.254.169.254/latest/meta-data',
  'file:///etc/passwd',
  'http://u:p@127.0.0.1/',
])('a redirect to %s is not followed', async (location) => {
  const { url, script } = await receiver();
  script({ status: 302, headers: { location } });
  const outcome = await fetcher()(url);
  expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(/not a public address|redirected to a/) });
});

test('redirects end somewhere, and at a host that is longer than any name', async () => {
  const loop = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
  expect(await fetcher()(loop)).toEqual({
    ok: false,
    message: `More than ${LIMITS.maxFetchRedirects} redirects`,
    limit: { name: 'maxFetchRedirects', value: LIMITS.maxFetchRedirects, used: LIMITS.maxFetchRedirects + 1 },
  });
  const { maxUrlHostChars: value } = LIMITS;
  const location = `//${'a'.repeat(value + 1)}/`;
  const far = await serve((_, response) => response.writeHead(302, { location }).end());
  expect(await fetcher()(far)).toMatchObject({ limit: { name: 'maxUrlHostChars', value, used: value + 1 } });
});

test('a name that finds no room among those that wait for the system is no unknown one, and the error says so', async () => {
  const fetch = fetcher();
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => fetch(`http://nowhere-${i}/`)));
  const { maxSystemLookupsWaiting: value } = LIMITS;
  const limit = { name: 'maxSystemLookupsWaiting', value, used: value + 1 };
  const refused = outcomes.filter((outcome) => !outcome.ok && outcome.limit?.name === limit.name);
  // One is under way, and sixteen wait.
  expect(refused).toHaveLength(20 - 1 - value);
  for (const outcome of refused)
    expect(outcome).toMatchObject({ limit, message: expect.stringMatching(/^nowhere-\d+ was not looked up/) });
});

test('redirect modes other than follow work as named', async () => {
  const url = await serve((_, response) => response.writeHead(302, { location: '/next' }).end('here'));
  const manual = await fetcher()(url, { redirect: 'manual' });
  expect(manual).toMatchObject({ ok: true, status: 302, redirected: false });
  expect(manual.ok && manual.headers).toContainEqual(['location', '/next']);
  expect(await fetcher()(url, { redirect: 'error' })).toMatchObject({
    ok: false,
    message: expect.stringMatching(/redirect/),
  });
});

const plain = Buffer.from('{"hello":"wörld"}'.repeat(100));
test.each([
  ['gzip', gzipSync(plain)],
  ['x-gzip', gzipSync(plain)],
  ['deflate', deflateSync(plain)],
  ['deflate', deflateRawSync(plain)],
  ['br', brotliCompressSync(plain)],
  ['zstd', zstdCompressSync(plain)],
  ['gzip, br', brotliCompressSync(gzipSync(plain))],
])('a %s body arrives decoded, without the headers that described the coding', async (coding, body) => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-encoding': coding, 'content-length': body.length, 'x-kept': '1' }).end(body);
  });
  const outcome = await fetcher()(url);
  expect(outcome.ok && Buffer.from(outcome.body).equals(plain)).toBe(true);
  const names = outcome.ok ? outcome.headers.map(([name]) => name) : [];
  expect(names).toContain('x-kept');
  expect(names).not.toContain('content-encoding');
  expect(names).not.toContain('content-length');
});

test('a coding that is not known is passed on as it came', async () => {
  const url = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'rot13' }).end('uryyb'));
  const outcome = await fetcher()(url);
  expect(outcome.ok && text(outcome)).toBe('uryyb');
  expect(outcome.ok && outcome.headers).toContainEqual(['content-encoding', 'rot13']);
});

test('a broken coding fails instead of answering half', async () => {
  const url = await serve((_, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip at all'),
  );
  expect(await fetcher()(url)).toMatchObject({ ok: false, message: expect.stringMatching(/not valid gzip/) });
});

test('a small compressed body that grows beyond the limit is refused, at any depth of compression', async () => {
  const bomb = gzipSync(Buffer.alloc(accountLimits().maxFetchResponseBytes + 1));
  for (const [coding, body] of [
    ['gzip', bomb],
    ['gzip, gzip', gzipSync(bomb)],
  ] as const) {
    const url = await serve((_, response) => response.writeHead(200, { 'content-encoding': coding }).end(body));
    expect(await fetcher()(url)).toMatchObject({ ok: false, message: expect.stringMatching(/larger than/) });
  }
});

test('a body without an end is cut off at the limit', async () => {
  let isClosed = false;
  const url = await serve((_, response) => {
    const chunk = Buffer.alloc(64 * 1024);
    const more = () => {
      while (response.write(chunk));
    };
    response.on('drain', more).on('close', () => {
      isClosed = true;
    });
    more();
  });
  expect(await fetcher()(url)).toMatchObject({ ok: false, message: expect.stringMatching(/larger than/) });
  await expect.poll(() => isClosed).toBe(true);
});

test('a request that is too large is not sent', async () => {
  const { url, requests } = await receiver();
  const body = new Uint8Array(accountLimits().maxFetchRequestBytes + 1);
  expect(await fetcher()(url, { method: 'POST', body })).toMatchObject({ ok: false });
  expect(requests).toEqual([]);
});

test.each<[string, Partial<FetchRequest>]>([
  ['a line break in a header value', { headers: [['x-a', 'b\r\nx-injected: 1']] }],
  ['a NUL in a header value', { headers: [['x-a', 'b\0']] }],
  ['a header value outside Latin-1', { headers: [['x-a', '→']] }],
  ['a line break in a header name', { headers: [['x-a\r\nx-b', '1']] }],
  ['a host header of another host', { headers: [['host', 'internal']] }],
  ['a method with a space', { method: 'GET / HTTP/1.1' }],
  ['CONNECT', { method: 'CONNECT' }],
  ['TRACE', { method: 'trace' }],
  ['a GET with a body', { body: Buffer.from('x') }],
  ['headers of many bytes', { headers: Array.from({ length: 100 }, (_, i) => [`x-${i}`, 'v'.repeat(1_000)]) }],
  ['many headers of few bytes', { headers: Array.from({ length: 1_001 }, () => ['x', '']) }],
  ['something that is no URL', { url: '/relative' }],
  ['a URL with a password', { url: 'http://user:password@127.0.0.1/' }],
])('%s is refused before anything is sent', async (_, request) => {
  const { url, requests } = await receiver();
  const outcome = await fetcher()(url, request);
  expect(outcome.ok).toBe(false);
  expect(requests).toEqual([]);
});

test('a host that never answers costs its timeout and no more, and its connection is closed', async () => {
  let closed = 0;
  const url = await serve((request) => void request.socket.on('close', () => closed++));
  const outcome = await fetcher({ fetchTimeoutMs: 100 })(url);
  expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(/longer than 100 ms/) });
  await expect.poll(() => closed).toBe(1);
});

test('a body that drips does not outlive the timeout', async () => {
  const url = await serve((_, response) => {
    const drip = setInterval(() => response.write('.'), 20);
    response.on('close', () => clearInterval(drip));
  });
  expect(await fetcher({ fetchTimeoutMs: 200 })(url)).toMatchObject({
    ok: false,
    message: expect.stringMatching(/200 ms/),
  });
});

test('an aborted run ends its requests, one that has not been sent as well', async () => {
  let closed = 0;
  const url = await serve((request) => void request.socket.on('close', () => closed++));
  const run = new AbortController();
  const fetch = fetcher();
  const outcome = fetch(url, {}, run.signal);
  run.abort();
  expect(await outcome).toMatchObject({ ok: false, message: expect.stringMatching(/aborted/) });
  expect(await fetch(url, {}, run.signal)).toMatchObject({ ok: false });
  await fetch(url, {}, AbortSignal.timeout(200));
  await expect.poll(() => closed).toBeGreaterThan(0);
});

test('failures are told in words that hold no path or stack of this machine', async () => {
  const broken = createTcpServer((socket) => socket.resume().end('this is not HTTP\r\n\r\n'));
  await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
  const brokenPort = (broken.address() as AddressInfo).port;
  const fetch = fetcher();
  const outcomes = [await fetch(`http://127.0.0.1:${brokenPort}/`), await fetch(`https://127.0.0.1:${brokenPort}/`)];
  await new Promise((resolve) => broken.close(resolve));
  outcomes.push(await fetch(`http://127.0.0.1:${brokenPort}/`));
  const messages = outcomes.map((outcome) => (outcome.ok ? 'answered' : outcome.message));
  expect(messages[0]).toMatch(/is not HTTP/);
  expect(messages[1]).toMatch(/^No TLS connection to 127\.0\.0\.1:\d+ could be made/);
  expect(messages[2]).toMatch(/refused the connection/);
  expect(messages.join()).not.toMatch(/node_modules|\/work|\.js|\bat /);
});
