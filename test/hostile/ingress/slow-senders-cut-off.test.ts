// ingress: Headers, a body, or nothing at all, sent more slowly than any client has reason to.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../api/src/http-server.ts';
import { eventually } from '../../support/eventually.ts';
import { statusesOf } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const patience = { headersTimeoutMs: 300, requestTimeoutMs: 600, checkMs: 50, maxConnections: 100 };
let server: HttpServer;

beforeAll(async () => {
  const fetchBody = async (request: Request) => new Response(await request.text());
  server = await startHttpServer({ app: { fetch: fetchBody } as never, host: '127.0.0.1', port: 0, patience });
});
afterAll(() => server.stop(0));

/**
 * Sends a byte every few milliseconds after `head`. Resolves with the answer when the server ends
 * the connection.
 */
function sendSlowly(head: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(server.port, '127.0.0.1');
    if (head !== '') socket.write(head);
    const drip = setInterval(() => head !== '' && socket.writable && socket.write('x'), 20);
    socket.on('data', (data) => (text += data.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(drip);
      resolve(text);
    });
  });
}

it('is over at the limit of time, with a 408 where there was a request', async () => {
  const answers = await world.unharmed(() =>
    Promise.all([
      sendSlowly(''),
      sendSlowly('GET / HTTP/1.1\r\nhost: x\r\nx-slow: '),
      sendSlowly('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n'),
    ]),
  );
  expect(answers.map(statusesOf)).toEqual([[408], [408], [408]]);
});

it('keeps no connection whose client never closes his side', async () => {
  const taken: Socket[] = [];
  const add = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.localPort === server.port) taken.push(socket);
  };
  subscribe('net.server.socket', add);
  const client = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  try {
    client.resume().write('GET / HT');
    await eventually(() => taken.length > 0 && taken.every((socket) => socket.destroyed));
    expect(client.destroyed).toBe(false);
  } finally {
    unsubscribe('net.server.socket', add);
    client.destroy();
  }
});
