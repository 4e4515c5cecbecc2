import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../api/src/http-server.ts';
import { eventually } from '../../support/eventually.ts';
import { open, whenClosed, withinMemory } from '../../support/hostile-ingress.ts';
import { hostile } from '../../support/hostile.ts';
import { longRun } from '../../support/long-run.ts';

// ingress: All connections that the server takes, each kept idle after a request that was
// answered.
describe('connections-kept-idle', () => {
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
    eventually(
      () => Promise.resolve(asked.every(({ text }) => text().includes('\r\nok') || text().includes('ok\r\n'))),
      {
        what: 'answers',
      },
    );

  it('make room, the longest idle first, for a new request, and requests under way go on', async () => {
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
});

// ingress: All connections that the server takes, held by one client that says nothing on them, or
// part of what it has to say.
describe('more-connections-than-allowed', () => {
  const world = hostile();
  const patience = { headersTimeoutMs: 600_000, requestTimeoutMs: 600_000, checkMs: 50, maxConnections: 20 };
  let server: HttpServer;

  beforeAll(async () => {
    const answer = async (request: Request) => new Response(`${(await request.text()).length}`);
    server = await startHttpServer({ app: { fetch: answer } as never, host: '127.0.0.1', port: 0, patience });
  });
  afterAll(() => server.stop(0));

  /** From then on a body is one that takes long. */
  const SLOW_MS = 2_500;
  const BODY_NEVER_SENT = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n';

  it.each(['', 'GET / HT', BODY_NEVER_SENT])(
    'those that have said %j make room for a client with a request',
    async (half) => {
      await world.unharmed(async () => {
        const talker = connect(server.port, '127.0.0.1');
        talker.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
        await once(talker, 'data');
        const silent = Array.from({ length: 60 }, () => connect(server.port, '127.0.0.1').on('error', () => undefined));
        await Promise.all(silent.map((socket) => once(socket, 'connect')));
        for (const socket of silent) socket.resume().write(half);
        await sleep(SLOW_MS);
        // One that has spoken keeps its place; a new one gets that of the oldest that has not.
        for (const headers of [{ connection: 'close' }, {}]) {
          expect((await fetch(`http://127.0.0.1:${server.port}/`, { headers })).status).toBe(200);
        }
        talker.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
        await once(talker, 'data');
        await whenClosed(silent[0]!);
        await expect.poll(() => silent.filter(({ closed }) => closed).length).toBeGreaterThan(40);
        for (const socket of [...silent, talker]) socket.destroy();
      });
    },
  );
});

// ingress: A client that asks for large answers, one after the other, and reads none of them.
describe('answers-never-read', () => {
  const world = hostile();
  const CONNECTIONS = 20;
  const REQUESTS = 15;

  it('costs the server what fits into buffers, and no thread', async () => {
    const { server } = world;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
        for (const socket of sockets) {
          socket.pause();
          socket.write('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(REQUESTS));
        }
        await sleep(500);
        expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
        for (const socket of sockets) socket.destroy();
      }),
    );
  });
});

// ingress: Clients that read the beginning of an answer and no more, to keep the rest of it and a
// connection for ever.
describe('answers-read-no-further', () => {
  const world = hostile();
  const BYTES = longRun(12_000_000, 20_000_000);
  /** Longer than a busy machine delays a slow reader. */
  const STALL_MS = 2_000;
  let server: HttpServer;

  beforeAll(async () => {
    const app = { fetch: () => new Response('x'.repeat(BYTES), { headers: { 'content-length': String(BYTES) } }) };
    const patience = { clientStallMs: STALL_MS };
    server = await startHttpServer({ app: app as never, host: '127.0.0.1', port: 0, patience });
  });
  afterAll(() => server.stop());

  const ask = () => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    return socket;
  };

  it('are cut off, and a slow reader is not', async () => {
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
      await eventually(() => Promise.resolve(slow.bytesRead > 2 * BYTES), {
        timeoutMs: 30_000,
        what: 'a second answer',
      });
      slow.destroy();
    });
  });
});

// ingress: Fifty clients of an endpoint that answers five megabytes, of which none reads more than
// its beginning.
describe('large-answers-never-read', () => {
  const world = hostile();
  const CLIENTS = longRun(34, 50);
  const BYTES = 5_000_000;
  const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
  const LARGE = `export default { name: 'Large', version: '1',
  props: { http: { type: '$.interface.http', customResponse: true } },
  async run() { await this.http.respond({ status: 200, body: 'x'.repeat(${BYTES}) }); } };`;

  async function closed(sockets: readonly Socket[]): Promise<Socket[]> {
    // A socket that is not read hears nothing of its end.
    for (const socket of sockets) socket.resume();
    await eventually(() => Promise.resolve(sockets.every((socket) => socket.closed || socket.bytesRead > BYTES)), {
      timeoutMs: 20_000,
      what: 'answers to be read or cut off',
    });
    return sockets.filter((socket) => socket.bytesRead < BYTES);
  }

  it('are kept for a dozen of them, and the others are cut off', async () => {
    const { attacker, server } = world;
    const { endpoint } = await attacker.deploy(LARGE);
    const { pathname } = new URL(endpoint);
    await world.unharmed(async () => {
      const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => open(server)));
      for (const socket of sockets) {
        socket.once('data', () => socket.pause());
        socket.write(`GET ${pathname} HTTP/1.1\r\nhost: x\r\n\r\n`);
      }
      const begun = () => sockets.every((socket) => socket.bytesRead > 0);
      await eventually(() => Promise.resolve(begun()), { timeoutMs: 60_000, what: 'the beginning of each answer' });
      const cutOff = await closed(sockets);
      // Some answers fit into the system's socket buffers and use no memory of the node.
      expect(cutOff.length).toBeGreaterThanOrEqual(CLIENTS - 2 * Math.ceil(MAX_UNREAD_BYTES / BYTES));
      expect(cutOff.length).toBeLessThan(CLIENTS);
      for (const socket of sockets) socket.destroy();
      expect((await (await fetch(endpoint)).text()).length).toBe(BYTES);
    });
  });
});
