// ingress: All connections that the server takes, held by one client that says nothing on them, or part of what it has to say.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../api/src/http-server.ts';
import { hostile } from '../../support/hostile.ts';
import { whenClosed } from '../../support/hostile-ingress.ts';

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
  'those that have said %j make room for who has something to say',
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
