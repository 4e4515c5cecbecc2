import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HttpServer, startHttpServer } from '../api/src/http-server.ts';
import { eventually } from './support/eventually.ts';

const MAX = 8;
const REQUEST = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

let server: HttpServer;
let clients: Socket[];

async function open(count: number): Promise<Socket[]> {
  const opened = Array.from({ length: count }, () => connect(server.port, '127.0.0.1').on('error', () => undefined));
  clients.push(...opened);
  await Promise.all(opened.map((socket) => once(socket, 'connect')));
  for (const socket of opened) socket.resume();
  // The server takes them in their order: now it has all.
  await fetch(`http://127.0.0.1:${server.port}/`, { headers: { connection: 'close' } });
  return opened;
}

beforeEach(async () => {
  clients = [];
  const answer = async () => new Response('ok');
  const patience = { maxSilentConnections: MAX };
  server = await startHttpServer({ app: { fetch: answer } as never, host: '127.0.0.1', port: 0, patience });
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  await server.stop(0);
});

test('a crowd that has only just connected is answered, not closed', async () => {
  const crowd = await open(10 * MAX);
  const answers = crowd.map((socket) => once(socket, 'data'));
  for (const socket of crowd) socket.write(REQUEST);
  await Promise.all(answers);
  expect(crowd.filter((socket) => socket.closed)).toEqual([]);
});

test('those that stay silent are closed beyond the bound, the oldest first, and none that has spoken', async () => {
  const [first, ...older] = await open(2 * MAX + 1);
  const answered = once(first as Socket, 'data');
  first?.write(REQUEST);
  await answered;
  const younger = await open(MAX);
  await eventually(() => older.every((socket) => socket.closed));
  expect(younger.filter((socket) => socket.closed)).toEqual([]);
  expect(first?.closed).toBe(false);
});
