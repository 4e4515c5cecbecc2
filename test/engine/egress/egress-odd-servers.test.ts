import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Principal } from '../../../engine/src/contract/engine.ts';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { createDeliveryWorld, type DeliveryWorld } from '../../support/delivery-world.ts';
import { eventually } from '../../support/eventually.ts';

let world: DeliveryWorld;
let who: Principal;
beforeAll(async () => {
  world = await createDeliveryWorld();
  who = await world.account();
});
afterAll(() => world.stop());

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

interface OddServer {
  url: string;
  /** Requests begun on each connection. */
  requests: number[];
}

/** Calls `answer` for each request. `count`: number of the request on its connection, from 1. */
async function oddServer(answer: (socket: Socket, count: number, connection: number) => void): Promise<OddServer> {
  const requests: number[] = [];
  const server: Server = createServer((socket) => {
    const connection = requests.push(0) - 1;
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      // Headers and body may come apart.
      if (!/^[A-Z]+ \/\S* HTTP/.test(chunk.toString('latin1'))) return;
      requests[connection]!++;
      answer(socket, requests[connection]!, connection);
    });
    stops.push(async () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.unshift(async () => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

async function deliver(url: string, events: number) {
  const webhook = await world.webhook(who, { url });
  const deliverer = world.deliverer({ node: 'node_a' });
  for (let i = 0; i < events; i++) {
    deliverer.take(await world.emit(webhook, who, 1, 'node_a'));
    await eventually(async () => (await world.rows(webhook.id)).every((row) => row.leased_by === null));
  }
  return world.rows(webhook.id);
}

function fetchWith(limits: object = {}) {
  const egress = createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [] });
  const { fetch, stop } = createGuestFetch({ egress });
  stops.push(stop);
  const account = {
    fetchTimeoutMs: 5_000,
    maxFetchResponseBytes: 1_000,
    maxConnections: 4,
    maxFetchesPerSecond: 1_000,
  };
  const tenant = { id: 'o_1', limits: { ...account, ...limits } as Parameters<typeof fetch>[0]['limits'] };
  return (url: string, method: string, repeats?: 'all') =>
    fetch(
      tenant,
      { url, method, headers: [], redirect: 'follow', ...(method === 'POST' ? { body: Buffer.from('x') } : {}) },
      new AbortController().signal,
      repeats,
    );
}

test.each([
  ['a 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['two of them, with headers', 'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n'.repeat(2)],
  ['a 102', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ['a 103', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'],
])('%s that nothing asked for is passed over', async (_, interim) => {
  const { url, requests } = await oddServer((socket) => void socket.write(interim + OK));
  const rows = await deliver(url, 2);
  expect(rows.map(({ attempts }) => attempts)).toEqual([
    [expect.objectContaining({ status_code: 200, response: 'ok' })],
    [expect.objectContaining({ status_code: 200, response: 'ok' })],
  ]);
  // The connection is as good as after any other answer.
  expect(requests).toEqual([2]);
  expect(await fetchWith()(url, 'GET')).toMatchObject({ ok: true, status: 200 });
});

test.each([
  ['in lines that end in LF alone', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nok'],
  [
    'with a length beside its chunks',
    'HTTP/1.1 200 OK\r\ncontent-length: 7\r\ntransfer-encoding: chunked\r\n\r\n2 \r\nok\r\n0\r\n\r\n',
  ],
  ['without a reason', 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nok'],
  ['with a folded header', 'HTTP/1.1 200 OK\r\nx-a: a\r\n b\r\ncontent-length: 2\r\n\r\nok'],
  ['with a folded length', 'HTTP/1.1 200 OK\r\ncontent-length:\r\n\t2\r\n\r\nok'],
  ['with a folded header, in lines that end in LF alone', 'HTTP/1.1 200 OK\nx-a: a\n b\ncontent-length: 2\n\nok'],
  ['with NUL and other characters in a header', 'HTTP/1.1 200 OK\r\nx-a: a\0b\x01\r\ncontent-length: 2\r\n\r\nok'],
  ['with 16,000 bytes of headers', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(16_000)}\r\ncontent-length: 2\r\n\r\nok`],
])('an answer %s is taken', async (_, answer) => {
  const { url, requests } = await oddServer((socket) => void socket.write(answer));
  const rows = await deliver(url, 2);
  const taken = { status: 'delivered', attempts: [expect.objectContaining({ status_code: 200, response: 'ok' })] };
  expect(rows).toEqual([expect.objectContaining(taken), expect.objectContaining(taken)]);
  expect(requests).toEqual([2]);
});

test('a folded header is one value, and NUL in it is a space', async () => {
  const { url } = await oddServer(
    (socket) => void socket.write('HTTP/1.1 200 OK\r\nx-a: a\r\n b\r\nx-b: c\0d\r\ncontent-length: 2\r\n\r\nok'),
  );
  expect(await fetchWith()(url, 'GET')).toMatchObject({
    ok: true,
    headers: [
      ['x-a', 'a b'],
      ['x-b', 'c d'],
      ['content-length', '2'],
    ],
  });
});

const HEAD = 'HTTP/1.1 200 OK\r\n';

test.each([
  [
    'two equal lengths',
    `${HEAD}content-length: 2\r\ncontent-length: 2\r\n\r\nok`,
    'not HTTP: Duplicate Content-Length',
  ],
  ['a list of lengths', `${HEAD}content-length: 2, 2\r\n\r\nok`, 'not HTTP: Invalid character in Content-Length'],
  [
    'a length that is no number',
    `${HEAD}content-length: two\r\n\r\nok`,
    'not HTTP: Invalid character in Content-Length',
  ],
  [
    'a space before a colon',
    `${HEAD}x-a : a\r\ncontent-length: 2\r\n\r\nok`,
    'not HTTP: a header line that begins with no valid name',
  ],
  [
    '17,000 bytes of headers',
    `${HEAD}x-a: ${'a'.repeat(17_000)}\r\ncontent-length: 2\r\n\r\nok`,
    'headers that are too large (over 16384 bytes)',
  ],
  ['another protocol', 'SSH-2.0-OpenSSH_9\r\n', 'not HTTP: Expected HTTP/'],
])('an answer with %s is told', async (_, answer, reason) => {
  const { url } = await oddServer((socket) => void socket.end(answer));
  const [row] = await deliver(url, 1);
  expect(row).toMatchObject({ status: 'pending', attempts: [{ error: expect.stringContaining(reason) }] });
  expect(await fetchWith()(url, 'GET')).toMatchObject({ ok: false, message: expect.stringContaining(reason) });
});

test('a 100 Continue that comes alone, before the rest, is passed over', async () => {
  const { url } = await oddServer((socket) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\n', () => setImmediate(() => socket.write(OK)));
  });
  expect((await deliver(url, 1))[0]).toMatchObject({ status: 'delivered', attempts: [{ status_code: 200 }] });
});

test.each([
  ['with the protocol', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
  ['without', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
])('a 101 that nothing asked for is told, %s', async (_, answer) => {
  const { url } = await oddServer((socket) => void socket.write(answer));
  const [row] = await deliver(url, 1);
  expect(row).toMatchObject({ status: 'pending', attempts: [{ error: expect.stringContaining('answered 101') }] });
  expect(await fetchWith()(url, 'GET')).toMatchObject({ ok: false, message: expect.stringContaining('answered 101') });
});

/** Answers the first request of each connection, and ends it at the next. */
const closesIdle = (socket: Socket, count: number) => {
  if (count === 1) socket.write(OK);
  else socket.destroy();
};
const resetsIdle = (socket: Socket, count: number) => {
  if (count === 1) socket.write(OK);
  else socket.resetAndDestroy();
};
/** As proxies do that have waited too long for the next request. */
const timesOutIdle = (socket: Socket, count: number) => {
  if (count === 1) socket.write(OK);
  else socket.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
};

test.each([
  ['closed', closesIdle],
  ['reset', resetsIdle],
  ['given up with a 408', timesOutIdle],
])('a delivery on a connection that the receiver has %s goes out at once on another', async (_, answer) => {
  const { url, requests } = await oddServer(answer);
  const rows = await deliver(url, 3);
  expect(rows.map((row) => [row.status, row.attempt_count])).toEqual(rows.map(() => ['delivered', 1]));
  expect(requests).toEqual([2, 2, 1]);
});

test('a receiver that ends each connection is asked once in each attempt', async () => {
  const { url, requests } = await oddServer((socket) => void socket.destroy());
  const [row] = await deliver(url, 1);
  expect(row).toMatchObject({ status: 'pending', attempts: [{ error: expect.stringContaining('closed') }] });
  expect(requests).toEqual([1]);
});

test('a receiver that ends a connection in the middle of its answer is not asked again', async () => {
  const { url, requests } = await oddServer((socket, count) => {
    if (count === 1) socket.write(OK);
    else socket.end('HTTP/1.1 103 Early Hints\r\n\r\n');
  });
  const rows = await deliver(url, 2);
  expect(rows.map(({ status }) => status).toSorted()).toEqual(['delivered', 'pending']);
  expect(requests).toEqual([2]);
});

test.each([
  ['GET', undefined, true],
  ['DELETE', undefined, true],
  ['POST', undefined, false],
  // Setting of `$.send.http`.
  ['POST', 'all', true],
] as const)('a %s on a connection that was closed meanwhile, repeats %s', async (method, repeats, ok) => {
  const { url } = await oddServer(closesIdle);
  const fetch = fetchWith();
  expect(await fetch(url, method, repeats)).toMatchObject({ ok: true });
  expect(await fetch(url, method, repeats)).toMatchObject({ ok });
});
