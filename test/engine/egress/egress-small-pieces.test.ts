import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { accountLimits, LIMITS } from '@headwater/shared';
import type { Connector } from '../../../engine/src/egress/connector.ts';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { type ExchangeRequest, startExchange } from '../../../engine/src/egress/exchange.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { createTenantConnections } from '../../../engine/src/egress/tenant-connections.ts';

/* A server decides in how many pieces a body comes, and how much it puts around each of them. */

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const egress = createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [] });
const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;
const END = '0\r\n\r\n';
const EXTENSION = 'a'.repeat(65_500);
/** `bytes` of a body in a chunk of its own, with an extension where one is given. */
const chunk = (bytes: number, extension = '') =>
  `${bytes.toString(16)}${extension === '' ? '' : `;${extension}`}\r\n${'x'.repeat(bytes)}\r\n`;

/** Answers each request on a connection with these bytes. */
async function serve(...answer: string[]) {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', () => answer.forEach((part) => socket.write(part, 'latin1')));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections };
}

function fetchFrom(url: string) {
  const guest = createGuestFetch({ egress });
  stops.push(guest.stop);
  const request = { url, method: 'GET', headers: [], redirect: 'follow' } as const;
  return guest.fetch({ id: 'o_1', limits: accountLimits() }, { ...request, headers: [] }, new AbortController().signal);
}

/** Exchanges that follow each other on the connections of one tenant. */
function exchanges(origin: string, overflow: ExchangeRequest['overflow']) {
  const connections = createTenantConnections({ egress });
  stops.push(connections.stop);
  const request = { origin, path: '/', method: 'GET', headers: [], timeoutMs: 20_000, maxKeptBytes: 4_000_000 };
  return (maxKeptBytes = request.maxKeptBytes) =>
    startExchange(connections.take('o_1', origin, 1), { ...request, maxKeptBytes, overflow }).done;
}

test('a byte of a body at a time counts for the budget of the tenant as what it costs', async () => {
  const count = LIMITS.maxFetchBytesPerTenant / LIMITS.minPieceBytes + 1;
  const { url } = await serve(CHUNKED, chunk(1).repeat(count), END);
  const limit = { name: 'maxFetchBytesPerTenant', value: LIMITS.maxFetchBytesPerTenant };
  expect(await fetchFrom(url)).toMatchObject({ ok: false, limit });
});

test.each([
  ['extensions of chunks', CHUNKED + chunk(1, EXTENSION).repeat(40) + END],
  ['an extension without an end', `${CHUNKED}1;${EXTENSION.repeat(40)}`],
  ['spaces in headers', `${HEAD}${`a:${' '.repeat(65_000)}b\r\n`.repeat(40)}content-length: 0\r\n\r\n`],
])('%s that are more than the body end the request, and the error names the limit', async (_, answer) => {
  const { url } = await serve(answer);
  const outcome = await fetchFrom(url);
  const { maxFetchFramingBytes: value } = LIMITS;
  expect(outcome).toMatchObject({ ok: false, limit: { name: 'maxFetchFramingBytes', value } });
  expect(outcome).toMatchObject({ message: expect.stringMatching(/^127\.0\.0\.1:\d+ sent more than 524288 bytes/) });
  const used = outcome.ok ? 0 : (outcome.limit?.used ?? 0);
  // As far as it was read: a few reads of 64 KB beyond the limit at most, of 2.6 MB.
  expect([used > value, used < 2 * value]).toEqual([true, true]);
});

test('as much around a body as the body itself is no harm', async () => {
  const body = 3_000_000;
  const { url } = await serve(CHUNKED, chunk(1_000, 'e'.repeat(900)).repeat(body / 1_000), END);
  const outcome = await fetchFrom(url);
  expect(outcome.ok && outcome.body).toHaveLength(body);
});

test.each([
  ['bytes', chunk(1).repeat(1_100)],
  ['bytes with extensions', chunk(1, EXTENSION).repeat(12)],
])('an unread answer of single %s is abandoned, and its status kept', async (_, chunks) => {
  const { url, connections } = await serve(CHUNKED, chunks, END);
  const deliver = exchanges(url, { kind: 'cut', maxDrainedBytes: LIMITS.maxDrainedResponseBytes });
  for (const count of [1, 2]) {
    expect(await deliver(LIMITS.maxStoredResponseBytes)).toMatchObject({ kind: 'response', status: 200 });
    expect(connections()).toBe(count);
  }
});

test('an unread answer of a few pieces is read to its end, so that the connection is used again', async () => {
  const { url, connections } = await serve(
    CHUNKED,
    chunk(1).repeat(100),
    chunk(60_000 - 100 * LIMITS.minPieceBytes),
    END,
  );
  const deliver = exchanges(url, { kind: 'cut', maxDrainedBytes: LIMITS.maxDrainedResponseBytes });
  for (let n = 0; n < 2; n++) expect(await deliver(1_024)).toMatchObject({ kind: 'response', status: 200 });
  expect(connections()).toBe(1);
});

test.each([
  ['with its length', `content-length: 40000\r\n\r\n${'x'.repeat(40_000)}`, 'response'],
  ['in chunks', `transfer-encoding: chunked\r\n\r\n${chunk(1_000).repeat(40)}${END}`, 'response'],
  ['that lacks a byte', `content-length: 40001\r\n\r\n${'x'.repeat(40_000)}`, 'error'],
  ['whose end nobody knows', `\r\n${'x'.repeat(40_000)}`, 'error'],
])('a body %s, of which the most waits when the connection is reset', async (_, rest, kind) => {
  const answer = `${HEAD}connection: close\r\n${rest}`;
  const ends: { peer?: Socket; own?: Socket } = {};
  const server = createServer((socket) => {
    ends.peer = socket.on('error', () => undefined);
    socket.once('data', () => socket.write(answer, 'latin1'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  const connect = egress.createConnector();
  const createConnector = (): Connector => (target, done) =>
    connect(target, ((...given: [null, Socket]) => {
      ends.own = given[1];
      done(...given);
    }) as Parameters<Connector>[1]);
  const connections = createTenantConnections({ egress: { ...egress, createConnector } });
  stops.push(connections.stop);
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const exchange = startExchange(connections.take('o_1', origin, 1), {
    origin,
    path: '/',
    method: 'GET',
    headers: [],
    timeoutMs: 20_000,
    maxKeptBytes: 100_000,
    // Nothing more of it is taken before the reset.
    overflow: { kind: 'fail', waitMs: () => 60_000 },
  });
  await expect.poll(() => ends.own?.bytesRead).toBe(answer.length);
  expect(ends.own?.readableLength).toBeGreaterThan(30_000);
  ends.peer?.resetAndDestroy();
  const outcome = await exchange.done;
  expect(outcome).toMatchObject({ kind });
  const body = outcome.kind === 'response' ? outcome.body.toString() : undefined;
  expect(body).toBe(kind === 'response' ? 'x'.repeat(40_000) : undefined);
});

test.each([
  ['a body alone', `${HEAD}content-length: 1000000\r\n\r\n${'x'.repeat(1_000_000)}`, 1_000_000, 1_000_000],
  ['large chunks', CHUNKED + chunk(16_384).repeat(60) + END, 983_040, 983_040],
  ['chunks with extensions', CHUNKED + chunk(1_000, 'e'.repeat(900)).repeat(500) + END, 500_000, 950_000],
  ['single bytes', CHUNKED + chunk(1).repeat(5_000) + END, ...Array(2).fill(5_000 * LIMITS.minPieceBytes)],
])('%s: the budget is told of the body, and the pace of all that is read', async (_, answer, counted, paced) => {
  const { url } = await serve(answer);
  const told = { counted: 0, paced: 0 };
  const onBytes = (count: number) => (told.counted += count) > 0;
  const waitMs = (count: number) => ((told.paced += count), 0);
  expect(await exchanges(url, { kind: 'fail', onBytes, waitMs })()).toMatchObject({ kind: 'response' });
  // One read from the connection may end within a piece.
  expect([told.counted >= counted, told.counted < counted * 1.1]).toEqual([true, true]);
  // The headers, and the lengths and ends of chunks, are read as well.
  expect([told.paced >= paced, told.paced < paced + 20_000]).toEqual([true, true]);
});
