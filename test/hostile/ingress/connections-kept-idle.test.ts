// ingress: All connections that the server takes, each kept idle after a request that was answered.
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../api/src/http-server.ts';
import { eventually } from '../../support/eventually.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();
const CONNECTIONS = 20;
let server: HttpServer;
/** Released to answer the request that stays under way. */
let held = Promise.withResolvers<void>();

beforeAll(async () => {
  const answer = async ({ url }: Request) => {
    if (url.endsWith('/held')) await held.promise;
    return new Response('ok');
  };
  const patience = { maxConnections: CONNECTIONS };
  server = await startHttpServer({ app: { fetch: answer } as never, host: '127.0.0.1', port: 0, patience });
});
afterAll(() => server.stop(0));

function ask(path: string): { socket: Socket; text: () => string } {
  let text = '';
  const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
  return { socket, text: () => text };
}

const answered = (asked: ReturnType<typeof ask>[]) =>
  eventually(() => Promise.resolve(asked.every(({ text }) => text().includes('\r\nok') || text().includes('ok\r\n'))), {
    what: 'answers',
  });

it('make room, the longest idle first, for who has something to ask; requests under way go on', async () => {
  await world.unharmed(async () => {
    held = Promise.withResolvers();
    const [busy, ...others] = [ask('/held'), ...Array.from({ length: CONNECTIONS - 1 }, () => ask('/'))];
    await answered(others);
    // Used again, it is not the one that was idle for longest.
    others[0]?.socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => Promise.resolve(others[0]?.text().split('HTTP/1.1 200').length === 3), {
      what: 'a second answer',
    });
    const fresh: ReturnType<typeof ask>[] = [];
    for (let n = 0; n < CONNECTIONS - 2; n++) {
      fresh.push(ask('/'));
      await answered(fresh);
    }
    await eventually(() => Promise.resolve(others.slice(1).every(({ socket }) => socket.closed)));
    expect(others[0]?.socket.closed).toBe(false);
    held.resolve();
    await answered([busy as ReturnType<typeof ask>]);
    for (const { socket } of [...others, ...fresh]) socket.destroy();
    busy?.socket.destroy();
  });
});
