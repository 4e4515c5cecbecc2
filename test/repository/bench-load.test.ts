import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { runLoad } from '../../bench/src/load/load-phase.ts';
import { createRequestTemplate } from '../../bench/src/load/request-bytes.ts';
import { eventId, ID_CHARS } from '../../bench/src/receiver/messages.ts';
import { startReceiver } from '../../bench/src/receiver/receiver.ts';
import type { Undo } from '../../bench/src/undo.ts';

const STALL_MS = 400;
const BODY_BYTES = 500;
let server: Server | undefined;
let stops: (() => Promise<void> | void)[] = [];
// The bench's own undo listens for signals, which belong to vitest here.
const undo: Undo = { push: (stop) => void stops.push(stop), run: () => Promise.resolve() };

afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  for (const stop of stops.toReversed()) await stop();
  stops = [];
});

async function serve(listener: RequestListener) {
  server = createServer(listener);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return createRequestTemplate(`http://127.0.0.1:${(server.address() as AddressInfo).port}/e`, BODY_BYTES, ID_CHARS);
}

test('a closed loop sends each request once, whole, and reports every answer', async () => {
  const bodies: string[] = [];
  const { target, request, body } = await serve((incoming, response) => {
    let text = '';
    incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
    incoming.on('end', () => {
      bodies.push(text);
      // Every tenth is refused, with a body: answers of all lengths are read to their end.
      response.statusCode = bodies.length % 10 === 0 ? 503 : 200;
      response.end('x'.repeat(bodies.length));
    });
  });
  const load = { target, connections: 8, requests: 200, maxMs: 20_000 };
  const result = await runLoad({ ...load, request: (index) => request(eventId('c', index)) });
  expect(result.sent).toBe(200);
  expect(result.statuses).toEqual({ 200: 180, 503: 20 });
  expect(result.answers.count).toBe(200);
  expect(new Set(bodies)).toEqual(new Set(Array.from({ length: 200 }, (_, i) => body(eventId('c', i)))));
  expect(bodies).toHaveLength(200);
  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({ id: expect.stringMatching(/^c\d{8}$/), type: 'order.paid' });
  expect(bodies[0]).toHaveLength(BODY_BYTES);
});

test('an open loop counts a stall against every request that was due in it', async () => {
  let answered = 0;
  const { target, request } = await serve((incoming, response) => {
    incoming.resume();
    const stall = answered++ === 0 ? STALL_MS : 0;
    setTimeout(() => response.end('ok'), stall);
  });
  const plan = { target, connections: 1, requests: 100, maxMs: 20_000, ratePerSecond: 200 };
  const { answers } = await runLoad({ ...plan, request: (index) => request(eventId('o', index)) });
  // 80 of the 100 were due while the only connection was held up; a closed loop would have seen one
  // slow answer.
  expect(answers.maxMs).toBeGreaterThanOrEqual(STALL_MS * 0.95);
  expect(answers.p50Ms).toBeGreaterThan(STALL_MS / 4);
});

test('nothing new is sent after the time is up', async () => {
  const { target, request } = await serve((incoming, response) => {
    incoming.resume();
    setTimeout(() => response.end('ok'), 5);
  });
  const plan = { target, connections: 2, requests: 100_000, maxMs: 100 };
  const result = await runLoad({ ...plan, request: (index) => request(eventId('c', index)) });
  expect(result.sent).toBeGreaterThan(0);
  expect(result.sent).toBeLessThan(100_000);
  expect(result.statuses).toEqual({ 200: result.sent });
});

test('a server that hangs up fails the load instead of hanging it', async () => {
  const { target, request } = await serve((incoming) => incoming.socket.destroy());
  const plan = { target, connections: 2, requests: 10, maxMs: 20_000 };
  await expect(runLoad({ ...plan, request: (index) => request(eventId('c', index)) })).rejects.toThrow(
    /closed a connection|ECONNRESET/,
  );
});

test('the receiver counts missing, repeated and badly signed deliveries', async () => {
  const receiver = await startReceiver(undo);
  const { target, request } = createRequestTemplate(receiver.url, BODY_BYTES, ID_CHARS);
  receiver.begin('c', 10);
  receiver.verify([`whsec_${Buffer.alloc(32, 1).toString('base64')}`], 1);
  // Events 0 to 7, the first two of them twice, one of another phase; none is signed.
  const ids = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1].map((index) => eventId('c', index)).concat(eventId('x', 0));
  const plan = { target, connections: 1, requests: ids.length, maxMs: 20_000 };
  await runLoad({ ...plan, request: (index) => request(ids[index] ?? '') });
  await receiver.settle('c', 8, 10_000);
  const { atMs, duplicates, strays, verified, badSignatures } = await receiver.collect('c');
  expect([...atMs].map((ms) => ms > 0)).toEqual([...Array<boolean>(8).fill(true), false, false]);
  expect({ duplicates, strays, verified, badSignatures }).toEqual({
    duplicates: 2,
    strays: 1,
    verified: 11,
    badSignatures: 11,
  });
});
