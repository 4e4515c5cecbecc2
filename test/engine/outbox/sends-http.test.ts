import { setTimeout as sleep } from 'node:timers/promises';
import { contentOf } from '../../../engine/src/outbox/sends/new-send.ts';
import { hostOf, readHttpRequest } from '../../../engine/src/outbox/transports/http/http-request.ts';
import { s3LineOf } from '../../../engine/src/outbox/transports/s3/s3-payload.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { longestTurnMs, slowness } from '../../support/longest-turn.ts';
import { createSendWorld, type SendWorld } from '../../support/send-world.ts';

let world: SendWorld;
let receiver: Receiver;
let who: Principal;

beforeEach(async () => {
  world = await createSendWorld();
  receiver = await startReceiver();
  who = await world.account();
});
afterEach(async () => {
  await receiver.stop();
  await world.stop();
});

/**
 * Sends one payload and runs one turn of the lane. Resolves with its row after the given attempts.
 */
async function attempt(payload: object, options: Parameters<SendWorld['node']>[0] & { attempts?: number } = {}) {
  const [id = ''] = await world.send(who, 'http', [payload]);
  const { runner } = await world.node(options);
  await runner.runLane(who);
  return world.ended(id, options.attempts ?? 1);
}

test('a request is sent as axios would: method, params, headers, JSON data, basic auth', async () => {
  receiver.answer = { status: 201, body: 'made' };
  const row = await attempt({
    method: 'put',
    url: `${receiver.url}/items?a=1`,
    params: { b: 2, list: ['x', 'y'], nothing: null, object: { c: true } },
    headers: { 'X-Many': ['1', '2'], 'x-number': 7, authorization: 'replaced' },
    data: { name: 'ä', n: [1, 2] },
    auth: { username: 'ada', password: 'secret' },
  });
  expect(row).toMatchObject({
    status: 'delivered',
    attempt_count: 1,
    leased_by: null,
    attempts: [{ status_code: 201, response: 'made' }],
  });
  const [request] = receiver.requests;
  expect(request).toMatchObject({ method: 'PUT', body: '{"name":"ä","n":[1,2]}' });
  expect(request?.url).toBe('/items?a=1&b=2&list%5B%5D=x&list%5B%5D=y&object=%7B%22c%22%3Atrue%7D');
  expect(request?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-many': '1, 2',
    'x-number': '7',
    authorization: `Basic ${Buffer.from('ada:secret').toString('base64')}`,
  });
});

test('bytes go out unchanged, without a content type unless one was given', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const row = await attempt({ url: receiver.url, data_base64: Buffer.from(bytes).toString('base64') });
  expect(row).toMatchObject({ status: 'delivered' });
  expect(receiver.requests[0]).toMatchObject({ method: 'POST', headers: { 'content-length': '256' } });
  expect(receiver.requests[0]?.headers).not.toHaveProperty('content-type');
  const forged = await readHttpRequest(JSON.stringify({ url: receiver.url, data_base64: '{"a":1}' }));
  expect(forged).toMatchObject({ ok: false, message: expect.stringContaining('base64') });
});

test('bytes are stored sealed, and the API shows their number', async () => {
  const sealer = { seal: (_: string, text: string) => `sealed ${text}` };
  const given = JSON.stringify({ url: 'http://a.example', data_base64: Buffer.from('a secret').toString('base64') });
  expect(await contentOf(sealer, 'o_a', undefined, given)).toEqual({
    payload: '{"url":"http://a.example","data_bytes":8}',
    sealed: `sealed ${given}`,
  });
  for (const other of [
    { url: 'u', data: ',"data_base64":"YQ=="}' },
    { url: 'u', data: { data_base64: 'YQ==' } },
  ])
    expect(await contentOf(sealer, 'o_a', undefined, JSON.stringify(other))).toEqual({
      payload: JSON.stringify(other),
    });
});

test.each([
  ['without data: GET', { data: undefined }, 'GET', '', undefined],
  ['with data: POST', { data: [1] }, 'POST', '[1]', 'application/json'],
  ['a string as it is', { data: 'a=1' }, 'POST', 'a=1', 'application/x-www-form-urlencoded'],
  [
    'a form where the content type says so',
    { data: { a: 1, b: 'ü' }, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
    'POST',
    'a=1&b=%C3%BC',
    'application/x-www-form-urlencoded',
  ],
])('%s', async (_, payload, method, body, contentType) => {
  await attempt({ url: receiver.url, ...payload });
  expect(receiver.requests).toMatchObject([{ method, body }]);
  expect(receiver.requests[0]?.headers['content-type']).toBe(contentType);
});

test('failures of the server and of the network are tried again until one succeeds', async () => {
  // A connection that was used before and closes is no failure: the request is repeated at once on
  // another one.
  receiver.script({ status: 500 }, { status: 429 }, { hangUp: true }, { hangUp: true });
  const [id = ''] = await world.send(who, 'http', [{ url: receiver.url }]);
  await world.node({ lanes: true, retry: { scheduleSeconds: [0.1, 0.1, 0.1, 0.1] } });
  const row = await world.ended(id);
  expect(row).toMatchObject({ status: 'delivered', attempt_count: 4 });
  expect(row.attempts.map((made) => made.status_code ?? made.error)).toEqual([
    500,
    429,
    expect.stringContaining('closed the connection'),
    200,
  ]);
});

test('after the last attempt of the schedule it has failed', async () => {
  receiver.answer = { status: 503 };
  const [id = ''] = await world.send(who, 'http', [{ url: receiver.url }]);
  await world.node({ lanes: true, retry: { scheduleSeconds: [0.1] } });
  expect(await world.ended(id)).toMatchObject({ status: 'failed', attempt_count: 2 });
  expect(receiver.requests).toHaveLength(2);
});

test('Retry-After puts the next attempt off', async () => {
  receiver.answer = { status: 429, headers: { 'retry-after': '600' } };
  const row = await attempt({ url: receiver.url });
  expect(row.status).toBe('pending');
  expect(row.due_in_seconds).toBeGreaterThan(590);
});

test.each([400, 404, 410, 422])('an answer %i is the end of it', async (status) => {
  receiver.answer = { status, body: 'no' };
  expect(await attempt({ url: receiver.url })).toMatchObject({
    status: 'failed',
    attempt_count: 1,
    attempts: [{ status_code: status, response: 'no' }],
  });
});

test('redirects are followed', async () => {
  receiver.script({ status: 307, headers: { location: '/there' } });
  expect(await attempt({ url: `${receiver.url}/here`, data: { a: 1 } })).toMatchObject({ status: 'delivered' });
  expect(receiver.requests.map(({ method, url, body }) => [method, url, body])).toEqual([
    ['POST', '/here', '{"a":1}'],
    ['POST', '/there', '{"a":1}'],
  ]);
});

test('a receiver that does not answer within five seconds is tried again later', async () => {
  receiver.answer = { delayMs: 60_000 };
  const row = await attempt({ url: receiver.url });
  expect(row).toMatchObject({
    status: 'pending',
    attempts: [{ error: expect.stringContaining('longer than 5000 ms') }],
  });
  expect(row.attempts[0]?.duration_ms).toBeLessThan(60_000);
  // This timeout is not a limit of the account.
  expect(row.attempts[0]?.limit).toBeUndefined();
});

test('a request over a limit of the account names it, with its value and the used amount', async () => {
  receiver.answer = { status: 200, body: 'x'.repeat(3_000) };
  const limits = { maxFetchRequestBytes: 2_000, maxFetchResponseBytes: 2_500 };
  const data = 'x'.repeat(2_100);
  expect(await attempt({ url: receiver.url, data }, { id: 'node_a', limits })).toMatchObject({
    status: 'failed',
    attempts: [{ limit: { name: 'maxFetchRequestBytes', value: 2_000, used: 2_100 } }],
  });
  const { status, attempts } = await attempt({ url: receiver.url }, { id: 'node_b', limits });
  expect([status, attempts[0]?.limit]).toMatchObject(['failed', { name: 'maxFetchResponseBytes', value: 2_500 }]);
  expect(attempts[0]?.limit?.used).toBeGreaterThan(2_500);
});

test.each([
  ['no URL', {}, 'url must be an http or https URL'],
  ['another scheme', { url: 'ftp://example.com/' }, 'url must be an http or https URL'],
  ['headers that are none', { headers: 'a: b' }, 'headers must be an object'],
  ['60 000 headers without a value', { headers: { a: Array(60_000).fill('') } }, 'There are more than 1000 headers'],
  ['a header that is an object', { headers: { a: { b: 1 } } }, 'The header "a" must be a string'],
  ['a line break in a header', { headers: { a: 'b\r\nc: d' } }, 'holds characters that a header cannot have'],
  ['a method that is none', { method: 'GET / HTTP/1.1\r\n' }, 'is not a method'],
  ['a body with GET', { method: 'GET', data: { a: 1 } }, 'A GET request cannot have a body'],
  ['a password in the URL', { url: 'http://a:b@127.0.0.1/' }, 'send them in an authorization header'],
])('%s has failed at once, with a reason', async (_, payload, message) => {
  const row = await attempt('url' in payload || _ === 'no URL' ? payload : { url: receiver.url, ...payload });
  expect(row).toMatchObject({ status: 'failed', attempts: [{ error: expect.stringContaining(message) }] });
  expect(receiver.requests).toEqual([]);
});

test('an address inside is not reached', async () => {
  const row = await attempt({ url: receiver.url }, { allow: [] });
  expect(row).toMatchObject({
    status: 'pending',
    attempts: [{ error: expect.stringContaining('not a public address') }],
  });
  expect(receiver.requests).toEqual([]);
});

test('a slow host holds up no other host of its account', async () => {
  const slow = await startReceiver();
  slow.answer = { delayMs: 3_000 };
  try {
    await world.send(
      who,
      'http',
      Array.from({ length: 60 }, () => ({ url: slow.url })),
    );
    const [id = ''] = await world.send(who, 'http', [{ url: receiver.url }]);
    const { runner } = await world.node({ drainMs: 10 });
    await runner.runLane(who);
    expect(await world.ended(id)).toMatchObject({ status: 'delivered' });
    expect(runner.stats().inFlight).toBe(16);
  } finally {
    await slow.stop();
  }
});

test('the host of a request is read without the rest of it', () => {
  expect(hostOf(JSON.stringify({ url: 'https://a.example:8443/x?"', data: [1] }))).toBe('a.example:8443');
  expect(hostOf('{"url":"https://a.example/","data":[[],[')).toBe('a.example');
  for (const none of ['{}', '{"url":1}', '{"url":"no"}']) expect(hostOf(none)).toBeUndefined();
});

test('megabytes of tiny values are handed on as they are, and no values are made of them', async () => {
  const url = 'https://example.com';
  const data = `[${'[],'.repeat(1_000_000)}1]`;
  const parsedMs = await longestTurnMs(async () => {
    JSON.parse(data);
    await sleep(5);
  });
  const longestMs = await longestTurnMs(async () => {
    const read = await readHttpRequest(`{"url":"${url}","data":${data},"headers":{"x":"1"}}`);
    expect(read.ok && Buffer.from(read.value.body ?? '').toString() === data).toBe(true);
    expect((await s3LineOf(`{"bucket":"b","payload":${data}}`)) === data).toBe(true);
  });
  expect(longestMs).toBeLessThan(parsedMs);
  const isForm = { 'content-type': 'application/x-www-form-urlencoded' };
  for (const [json, message, name] of [
    [`{"url":"${url}","params":{"a":${data}}}`, /params, headers, auth are longer than 262144/, 'maxSendHeadChars'],
    [`{"url":"${url}","headers":${JSON.stringify(isForm)},"data":${data}}`, /too long for a form/, 'maxSendFormChars'],
  ] as const) {
    const limit = { name, value: 262_144, used: expect.any(Number) };
    expect(await readHttpRequest(json)).toEqual({ ok: false, message: expect.stringMatching(message), limit });
  }
});

test('hosts of thousands of letters are refused before they are read, which takes the thread seconds for one turn of a lane', async () => {
  const host = Array.from({ length: 5_000 }, (_, n) => String.fromCharCode(0x4e00 + ((n * 7_919) % 20_000))).join('');
  const ids = await world.send(
    who,
    'http',
    Array.from({ length: 64 }, () => ({ url: `http://${host}/` })),
  );
  const { runner } = await world.node();
  const longestMs = await longestTurnMs(() => runner.runLane(who));
  expect(longestMs / slowness()).toBeLessThan(250);
  for (const id of ids) {
    expect(await world.ended(id, 1)).toMatchObject({
      status: 'failed',
      attempts: [{ error: expect.stringContaining('longer than 512 characters') }],
    });
  }
});
