import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { accountLimits, type AccountLimits, LIMITS } from '@headwater/shared';
import { createEgress } from '../../../engine/src/egress/egress.ts';
import { startExchange } from '../../../engine/src/egress/exchange.ts';
import { createFetchTurns, type FetchTurn } from '../../../engine/src/egress/fetch-turns.ts';
import { createGuestFetch } from '../../../engine/src/egress/guest-fetch.ts';
import { createTenantConnections } from '../../../engine/src/egress/tenant-connections.ts';

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const openEgress = () => createEgress({ allow: ['127.0.0.0/8'], deniedPorts: () => [] });
const never = () => new AbortController().signal;

/** Answers `/` at once and holds everything else until `release`; counts connections. */
async function startServer() {
  const held: (() => void)[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((request, response) => {
    if (request.url === '/') response.end('here');
    else held.push(() => response.end('late'));
  });
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    held,
    open: () => sockets.size,
    connections: () => connections,
    release: () => held.splice(0).forEach((end) => end()),
  };
}

function fetchers() {
  const guest = createGuestFetch({ egress: openEgress() });
  stops.push(guest.stop);
  return (id: string, limits: Partial<AccountLimits> = {}) =>
    (url: string, signal = never()) =>
      guest.fetch(
        { id, limits: accountLimits(limits) },
        { url, method: 'GET', headers: [], redirect: 'follow' },
        signal,
      );
}

test('a tenant whose requests hang at an origin delays no other tenant there', async () => {
  const server = await startServer();
  const fetcherOf = fetchers();
  const slow = fetcherOf('slow', { maxConnections: 8 });
  const hanging = Array.from({ length: 20 }, () => slow(`${server.url}/hang`));
  await expect.poll(() => server.held.length).toBe(8);
  expect(await fetcherOf('other')(`${server.url}/`)).toMatchObject({ ok: true });
  expect(server.open()).toBe(9);
  // The others of the slow tenant had to wait; they get their turn.
  const releasing = setInterval(server.release, 5);
  stops.push(() => clearInterval(releasing));
  expect((await Promise.all(hanging)).every((outcome) => outcome.ok)).toBe(true);
  expect(server.connections()).toBe(9);
});

test('a connection is used again by its tenant and by no other', async () => {
  const server = await startServer();
  const fetcherOf = fetchers();
  for (const id of ['a', 'b', 'a', 'b', 'a']) expect(await fetcherOf(id)(`${server.url}/`)).toMatchObject({ ok: true });
  expect(server.connections()).toBe(2);
});

test('a request that never gets its turn is refused with the limit, its value and the used amount', async () => {
  const server = await startServer();
  const fetcherOf = fetchers();
  const holds = fetcherOf('o_1', { maxConnections: 1, fetchTimeoutMs: 1_000 });
  const waits = fetcherOf('o_1', { maxConnections: 1, fetchTimeoutMs: 200 });
  const outcomes = await Promise.all([holds(`${server.url}/hang`), waits(`${server.url}/hang`)]);
  expect(outcomes.map((outcome) => !outcome.ok && outcome.limit)).toEqual([
    { name: 'fetchTimeoutMs', value: 1_000, used: expect.any(Number) },
    { name: 'maxConnections', value: 1, used: 2 },
  ]);
});

test('requests over all origins count, and idle connections make room for new ones', async () => {
  const servers = await Promise.all(Array.from({ length: 4 }, startServer));
  const fetch = fetchers()('o_1', { maxConnections: 2 });
  for (const server of servers) expect(await fetch(`${server.url}/`)).toMatchObject({ ok: true });
  await expect.poll(() => servers.map((server) => server.open())).toEqual([0, 0, 1, 1]);
});

test('idle connections of all tenants together have a bound; the oldest goes first', async () => {
  const server = await startServer();
  const connections = createTenantConnections({ egress: openEgress(), maxIdle: 2 });
  stops.push(connections.stop);
  const get = (id: string) =>
    startExchange(connections.take(id, server.url, 8), {
      origin: server.url,
      path: '/',
      method: 'GET',
      headers: [],
      timeoutMs: 2_000,
      maxKeptBytes: 100,
      overflow: { kind: 'fail' },
    }).done;
  for (const id of ['a', 'b', 'c']) expect(await get(id)).toMatchObject({ kind: 'response' });
  await expect.poll(server.open).toBe(2);
  for (const id of ['b', 'c']) await get(id);
  expect(server.connections()).toBe(3);
});

test('an attempt to connect ends with the request that wanted it', async () => {
  const connections = createTenantConnections({ egress: openEgress() });
  stops.push(connections.stop);
  const sockets = new Set<Socket>();
  // TLS is never answered, so the connection is never made.
  const silent = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.resume();
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  stops.push(() => silent.close());
  const fetch = fetchers()('o_1', { fetchTimeoutMs: 300 });
  const outcome = fetch(`https://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
  await expect.poll(() => sockets.size).toBe(1);
  expect(await outcome).toMatchObject({ ok: false, limit: { name: 'fetchTimeoutMs' } });
  await expect.poll(() => sockets.size).toBe(0);
});

test('one tenant cannot hold more bytes of answers at a time than its budget, and gets it back', async () => {
  const size = accountLimits().maxFetchResponseBytes;
  const held: (() => void)[] = [];
  const server = createServer((_, response) => {
    response.writeHead(200);
    // All but the last byte, so that every response is in memory at the same time.
    response.write(Buffer.alloc(size - 1));
    held.push(() => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const fetch = fetchers()('o_1');
  const count = Math.floor(LIMITS.maxFetchBytesPerTenant / size) + 1;
  const outcomes = Array.from({ length: count }, () => fetch(url));
  const refused = await Promise.race(outcomes);
  expect(refused).toMatchObject({ ok: false, message: expect.stringMatching(/held at once/) });
  for (const end of held) end();
  const all = await Promise.all(outcomes);
  expect(all.filter((outcome) => outcome.ok).length).toBeGreaterThanOrEqual(count - 2);
  const again = fetch(url);
  await expect.poll(() => held.length).toBe(count + 1);
  held.at(-1)?.();
  expect(await again).toMatchObject({ ok: true });
});

test('ten seconds of requests may come at once, then they come at the pace of the limit, in their order', async () => {
  let nowMs = 1_000_000;
  const turns = createFetchTurns(() => nowMs);
  const share = { maxConnections: 1_000, maxFetchesPerSecond: 2 };
  const order: number[] = [];
  const take = (i: number) => turns.take('o_1', share, 300, never()).then((turn) => (order.push(i), turn));
  const first = await Promise.all(Array.from({ length: 20 }, (_, i) => take(i)));
  expect(first.every((turn) => turn.kind === 'started')).toBe(true);
  const [next, after] = [take(20), take(21)];
  expect(await turns.take('o_2', share, 300, never())).toMatchObject({ kind: 'started' });
  nowMs += 500;
  first.forEach((turn) => turn.kind === 'started' && turn.end());
  expect(await next).toMatchObject({ kind: 'started' });
  expect(await after).toEqual({ kind: 'refused', limit: { name: 'maxFetchesPerSecond', value: 2, used: 3 } });
  expect(order).toEqual(Array.from({ length: 22 }, (_, i) => i));
  nowMs += 60_000;
  const saved = await Promise.all(Array.from({ length: 21 }, () => turns.take('o_1', share, 20, never())));
  expect(saved.map((turn: FetchTurn) => turn.kind).filter((kind) => kind === 'started')).toHaveLength(20);
});

test('a request that gives up waiting leaves the queue to the others', async () => {
  const turns = createFetchTurns();
  const share = { maxConnections: 1, maxFetchesPerSecond: 1_000 };
  const first = await turns.take('o_1', share, 1_000, never());
  const run = new AbortController();
  const [second, third] = [turns.take('o_1', share, 1_000, run.signal), turns.take('o_1', share, 1_000, never())];
  run.abort();
  expect(await second).toEqual({ kind: 'aborted' });
  if (first.kind === 'started') first.end();
  expect(await third).toMatchObject({ kind: 'started' });
});
