import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LIMITS } from '../../shared/src/index.ts';
import { eventually } from '../support/eventually.ts';
import { startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.server.stop());

/**
 * The server may still accept a connection at the moment of its stop, so poll until one is refused.
 */
async function untilRefused(url: string): Promise<void> {
  await eventually(() =>
    fetch(`${url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
}

test('stop waits for requests in flight and closes connections that are silent, idle, or fall idle', async () => {
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
  // The timeout is so long that the test ends in time only if idle connections are closed in time.
  const stopped = server.server.stop(600_000);
  await untilRefused(server.url);
  answerRun(undefined);
  expect((await inFlight).status).toBe(200);
  await Promise.all([stopped, idleClosed]);
});

/** The head of the first answer over a connection that stays open. */
async function askOver(socket: Socket, path: string): Promise<string> {
  socket.write(`GET ${path} HTTP/1.1\r\nhost: h\r\n\r\n`);
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString().toLowerCase();
}

test('a stop answers requests on open connections, and tells each client that the connection ends', async () => {
  const [busy, late] = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')];
  expect(await askOver(late, '/e/known1')).toMatch(/^http\/1.1 200(?!.*connection: close)/s);
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (goOn = resolve));
  const { accept } = server.engine.ingest;
  server.engine.ingest.accept = async (route, event) => {
    const accepted = await accept(route, event);
    await held;
    return accepted;
  };
  const inFlight = askOver(busy, '/e/known1');
  await eventually(() => server.accepted.length === 2);
  const stopped = server.server.stop(600_000);
  await untilRefused(server.url);
  // It has been idle for a moment alone: its client may have sent this before it could know.
  const afterwards = askOver(late, '/e/known1');
  await eventually(() => server.accepted.length === 3);
  goOn();
  for (const answer of [await inFlight, await afterwards]) expect(answer).toMatch(/^http\/1.1 200.*connection: close/s);
  await stopped;
});

test('a request that is not HTTP gets a 400, and headers over the limit a 431', async () => {
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

const PIPELINED = 'GET /e/known1 HTTP/1.1\r\nhost: x\r\n\r\n';

test('a request that was sent before the answer to another is looked at when that is answered', async () => {
  const answers: ((value: undefined) => void)[] = [];
  const accept = server.engine.ingest.accept;
  server.engine.ingest.accept = async (route, event) => {
    await new Promise((resolve) => answers.push(resolve));
    return accept(route, event);
  };
  const socket = connect(server.port, '127.0.0.1');
  let received = '';
  socket.on('data', (data) => (received += data.toString()));
  socket.write(PIPELINED.repeat(3));
  for (const count of [1, 2, 3]) {
    await eventually(() => answers.length === count);
    expect(received.split('HTTP/1.1 200').length).toBe(count);
    answers[count - 1]?.(undefined);
  }
  await eventually(() => received.split('HTTP/1.1 200').length === 4);
  socket.destroy();
});

test.each([
  ['', PIPELINED],
  ['with an expectation', PIPELINED.replace('host', 'expect: x\r\nhost')],
])('after a few pieces %s the connection ends, and those pieces are not handed over', async (_, request) => {
  let started = 0;
  const count = () => void started++;
  subscribe('http.server.request.start', count);
  try {
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(request.repeat(4_000));
    await closed;
  } finally {
    unsubscribe('http.server.request.start', count);
  }
  expect(started).toBeGreaterThan(LIMITS.maxPipelinedRequests);
  expect(started).toBeLessThan(4 * LIMITS.maxPipelinedRequests);
});

test('a few of the connections that clients close together are ended in each turn', async () => {
  const sockets: Socket[] = [];
  const add = (message: unknown) => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.server.socket', add);
  const clients = Array.from({ length: 100 }, () => connect(server.port, '127.0.0.1').resume());
  try {
    await Promise.all(clients.map((client) => once(client, 'connect')));
    await eventually(() => sockets.length === clients.length);
  } finally {
    unsubscribe('net.server.socket', add);
  }
  const closed = Promise.all(clients.map((client) => once(client, 'close')));
  for (const client of clients) client.end();
  const inTurn: number[] = [];
  for (let ended = 0; ended < sockets.length; ) {
    await nextTurn();
    const now = sockets.filter((socket) => socket.writableEnded).length;
    inTurn.push(now - ended);
    ended = now;
  }
  expect(Math.max(...inTurn)).toBeLessThanOrEqual(8);
  await closed;
});
