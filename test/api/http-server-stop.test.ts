import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { type HttpServerOptions, startHttpServer } from '../../api/src/http-server.ts';

/** Shorter than in production, for quick tests. */
const CLOSING_IDLE_MS = 1_000;

/** As an answer that waits for a database which does not answer either. */
const neverAnswers = { fetch: () => new Promise<Response>(() => {}) } as unknown as HttpServerOptions['app'];

test('a request that waits when a stop runs out of time is told to retry, and not reset', async () => {
  const server = await startHttpServer({
    app: neverAnswers,
    isKnownKey: () => false,
    hasOthers: () => false,
    host: '127.0.0.1',
    port: 0,
  });
  const answer = new Promise<{ status: number | undefined; retryAfter: string | undefined; text: string }>(
    (resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port: server.port, path: '/v1/sources' }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        const { statusCode: status, headers } = response;
        response.once('end', () => resolve({ status, retryAfter: headers['retry-after'], text }));
      });
      sent.once('error', reject);
      sent.end(() => setImmediate(() => void server.stop(100)));
    },
  );
  const { status, retryAfter, text } = await answer;
  expect([status, retryAfter]).toEqual([503, '1']);
  expect(JSON.parse(text)).toMatchObject({ status: 503, detail: expect.stringContaining('Send it again') });
  await server.stop();
});

const COUNT = 100;
/** Opens connections, sends a request over each once all are there, and says how each ended. */
const CLIENT = `
const { parentPort, workerData: { port, count, sent } } = require('node:worker_threads');
const { connect } = require('node:net');
const ends = [];
for (let i = 0; i < count; i++) {
  let text = '';
  let end;
  const socket = connect({ host: '127.0.0.1', port }, () => socket.write('GET /v1/sources HTTP/1.1\\r\\nhost: localhost\\r\\n\\r\\n', () => {
    if (Atomics.add(sent, 0, 1) === count - 1) Atomics.notify(sent, 0);
  }));
  socket.on('data', (bytes) => { text += bytes; });
  socket.on('error', (error) => { end = error.code; });
  socket.on('close', () => { ends.push(text.slice(0, 12) || end || 'closed'); if (ends.length === count) parentPort.postMessage(ends); });
}
`;

/** As on a machine with other work: together they take longer than a second. */
const TURN_MS = 15;

test.each([
  ['', () => {}],
  [' on a busy machine', () => blockFor(TURN_MS)],
])('a node that stood still answers all that came meanwhile when it is stopped%s', async (_, everyTurn) => {
  const server = await startHttpServer({
    app: { fetch: () => new Response('[]') } as unknown as HttpServerOptions['app'],
    isKnownKey: () => true,
    hasOthers: () => false,
    host: '127.0.0.1',
    port: 0,
    patience: { closingIdleMs: CLOSING_IDLE_MS },
  });
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(CLIENT, { eval: true, workerData: { port: server.port, count: COUNT, sent } });
  const ends = new Promise<string[]>((resolve) => client.once('message', resolve));
  await once(client, 'online');
  // Like a frozen process: all requests are with the operating system when the stop comes.
  for (let had = 0; had < COUNT; had = Atomics.load(sent, 0)) Atomics.wait(sent, 0, had, 1_000);
  let isStopping = true;
  const turn = () => {
    everyTurn();
    if (isStopping) setImmediate(turn);
  };
  turn();
  await server.stop(20_000);
  isStopping = false;
  expect(Object.entries(Object.groupBy(await ends, (end) => end)).map(([end, of]) => [end, of?.length])).toEqual([
    ['HTTP/1.1 200', COUNT],
  ]);
});

function blockFor(ms: number): void {
  const endsAtMs = performance.now() + ms;
  while (performance.now() < endsAtMs);
}

test('a request over a connection that has been idle for long is answered right after a stop has begun', async () => {
  const server = await startHttpServer({
    app: { fetch: () => new Response('[]') } as unknown as HttpServerOptions['app'],
    isKnownKey: () => true,
    hasOthers: () => false,
    host: '127.0.0.1',
    port: 0,
    patience: { closingIdleMs: CLOSING_IDLE_MS },
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const get = async () => {
    const sent = request({ host: '127.0.0.1', port: server.port, path: '/v1/sources', agent }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return [sent.reusedSocket, response.statusCode, response.headers.connection, response.headers['keep-alive']];
  };
  // A client that heeds it ends its idle connections before a stopping server does.
  expect(await get()).toEqual([false, 200, 'keep-alive', `timeout=${LIMITS.closingIdleMs / 1_000}`]);
  await sleep(CLOSING_IDLE_MS);
  const stopped = server.stop();
  // Longer than the server takes to look at its idle connections for the first time.
  await sleep(200);
  expect(await get()).toEqual([true, 200, 'close', undefined]);
  await stopped;
});
