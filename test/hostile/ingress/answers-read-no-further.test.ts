// ingress: Clients that read the beginning of an answer and no more, to keep the rest of it and a connection for ever.
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../api/src/http-server.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

const world = hostile();
const BYTES = longRun(12_000_000, 20_000_000);
/** Longer than a busy machine delays a slow reader. */
const STALL_MS = 2_000;
let server: HttpServer;

beforeAll(async () => {
  const app = { fetch: () => new Response('x'.repeat(BYTES), { headers: { 'content-length': String(BYTES) } }) };
  const patience = { answerStallMs: STALL_MS };
  server = await startHttpServer({ app: app as never, host: '127.0.0.1', port: 0, patience });
});
afterAll(() => server.stop());

const ask = () => {
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  return socket;
};

it('are cut off, and who reads slowly is not', async () => {
  await world.unharmed(async () => {
    const stalled = Array.from({ length: 5 }, ask);
    for (const socket of stalled) socket.once('data', () => socket.pause());
    const slow = ask();
    slow.on('data', () => {
      slow.pause();
      setTimeout(() => slow.resume(), 10);
    });
    await eventually(() => Promise.resolve(slow.bytesRead > BYTES), {
      timeoutMs: 30_000,
      what: 'the slow one to have all',
    });
    await sleep(2 * STALL_MS);
    for (const socket of stalled) socket.resume();
    await eventually(() => Promise.resolve(stalled.every((socket) => socket.closed)), {
      what: 'the others to be closed',
    });
    for (const socket of stalled) expect(socket.bytesRead).toBeLessThan(BYTES);
    // An answer that was read leaves nothing behind: the connection is kept as any other.
    expect(slow.closed).toBe(false);
    await sleep(1_000);
    slow.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => Promise.resolve(slow.bytesRead > 2 * BYTES), { timeoutMs: 30_000, what: 'a second answer' });
    slow.destroy();
  });
});
