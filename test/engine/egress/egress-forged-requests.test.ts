import { afterAll, beforeAll, expect, test } from 'vitest';
import { accountLimits, LIMITS } from '@headwater/shared';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import type { FetchRequest } from '../../../sandbox-runtime/src/sandbox-types.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';

/* Requests that only a compromised sandbox can make: its own fetch and frames refuse them. */

const guest = createGuestFetch({ egress: createEgress({ allow: ['127.0.0.1'], deniedPorts: () => [] }) });
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(async () => {
  await guest.stop();
  await receiver.stop();
});

function send(request: Partial<FetchRequest>) {
  const whole: FetchRequest = { url: receiver.url, method: 'GET', headers: [], redirect: 'follow', ...request };
  return guest.fetch({ id: 'o_1', limits: accountLimits() }, whole, new AbortController().signal);
}

test.each<[string, string]>([
  ['x-a', 'b\r\nx-injected: 1'],
  ['x-a', 'b\nx-injected: 1'],
  ['x-a', 'b\rx-injected: 1'],
  ['x-a\r\nx-injected', '1'],
  ['x-a: 1\nx-injected', '1'],
  ['x-a', 'b\0'],
  ['x-a', '\u560d\u560ax-injected: 1'],
  ['', 'x-injected'],
  [' x-injected', '1'],
  ['x-injected ', '1'],
])('the header %j: %j is refused', async (...header) => {
  const outcome = await send({ headers: [header] });
  expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(/header/) });
  expect(receiver.requests).toEqual([]);
});

test.each(['GET / HTTP/1.1\r\nx: ', 'GET /', 'G\u0000ET', '', 'GÉT', 'CONNECT', 'connect', 'TRACE', 'TRACK'])(
  'the method %j is refused',
  async (method) => {
    expect(await send({ method })).toMatchObject({ ok: false, message: expect.stringMatching(/not a method/) });
    expect(receiver.requests).toEqual([]);
  },
);

test('a URL that is too long is refused, and the error names the limit and its length', async () => {
  const { maxFetchUrlChars: value } = LIMITS;
  const url = `${receiver.url}/`.padEnd(value, 'a');
  expect(await send({ url: `${url}a` })).toEqual({
    ok: false,
    message: `The URL is longer than ${value} characters`,
    plain: `The URL is longer than ${value} characters`,
    limit: { name: 'maxFetchUrlChars', value, used: value + 1 },
  });
  expect(receiver.requests).toEqual([]);
  expect(await send({ url })).toMatchObject({ ok: true });
  receiver.requests.length = 0;
});

test('a URL whose host is too long is refused, and the error names the limit and its length', async () => {
  const { maxUrlHostChars: value } = LIMITS;
  const limit = { name: 'maxUrlHostChars', value, used: value + 1 };
  expect(await send({ url: `http://${'a'.repeat(value + 1)}/` })).toMatchObject({ ok: false, limit });
});

test('a path with line breaks is encoded, and of two host headers none but the right one is sent', async () => {
  const host = new URL(receiver.url).host;
  const twice: [string, string][] = [
    ['host', host],
    ['Host', 'internal'],
  ];
  expect(await send({ headers: twice })).toMatchObject({ ok: false });
  expect(receiver.requests).toEqual([]);
  const outcome = await send({
    url: `${receiver.url}/a b\r\nx-injected: 1`,
    headers: [
      ['host', host],
      ['HOST', host],
      ['transfer-encoding', 'chunked'],
      ['content-length', '5'],
    ],
  });
  expect(outcome).toMatchObject({ ok: true, status: 200 });
  expect(receiver.requests).toMatchObject([{ url: '/a%20bx-injected:%201', headers: { host } }]);
  expect(Object.keys(receiver.requests[0]?.headers ?? {})).not.toContain('transfer-encoding');
});
