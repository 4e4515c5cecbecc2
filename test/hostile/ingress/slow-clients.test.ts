import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpServer, startHttpServer } from '../../../api/src/http-server.ts';
import { eventually } from '../../support/eventually.ts';
import { exchange, open, statusesOf, whenClosed, withinMemory } from '../../support/hostile-ingress.ts';
import { inTurn } from '../../support/hostile-turn.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';

// ingress: Nearly whole bodies on hundreds of connections, to an endpoint and to the API, none of
// which announces a length or ends.
describe('bodies-never-finished', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run() {} };`;
  const MAX_BYTES = 128 * 1024 * 1024;
  const ATTACKS = sampleCases(
    [
      { bytes: 6_000_000, clients: 26, to: 'api' },
      { bytes: 500_000, clients: 300, to: 'endpoint' },
    ],
    2,
  );

  it('are kept up to a bound, and those that were begun first are cut off', async () => {
    const { attacker, server } = world;
    const { endpoint } = await attacker.deploy(BIN);
    const { pathname } = new URL(endpoint);
    const attack = async () => {
      for (const { bytes, clients, to } of ATTACKS) {
        const path = to === 'api' ? '/v1/webhooks' : pathname;
        const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\ntransfer-encoding: chunked\r\n\r\n`;
        const chunk = Buffer.alloc(bytes, 'x');
        const sockets: Socket[] = [];
        for (let n = 0; n < clients; n++) {
          const socket = await open(server);
          socket.write(`${head}${bytes.toString(16)}\r\n`);
          await new Promise((resolve) => socket.write(chunk, resolve));
          sockets.push(socket);
        }
        const least = clients - Math.ceil(MAX_BYTES / bytes);
        const cutOff = () => sockets.filter(({ closed }) => closed);
        await eventually(() => Promise.resolve(cutOff().length >= least), { what: `${to}: ${least} to be cut off` });
        await sleep(500);
        // On a full machine some bodies wait before they begin, and later ones overtake them.
        const early = sockets.slice(0, 2 * cutOff().length).filter(({ closed }) => closed);
        expect(early.length).toBeGreaterThanOrEqual(cutOff().length / 2);
        expect(cutOff().length).toBeLessThan(clients / 2);
        const whole = `POST ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 100000\r\n\r\n${'x'.repeat(100_000)}`;
        expect((await exchange(server, whole)).statuses).toEqual([200]);
        for (const socket of sockets) socket.destroy();
      }
    };
    await inTurn(world.sql, 'bodies', () => world.unharmed(attack));
  });
});

// ingress: Bodies announced as large that arrive a byte at a time, to an endpoint and to the API.
describe('slow-body', () => {
  const world = hostile();
  const CONNECTIONS = 200;
  const ROUNDS = 8;
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

  it('nothing is run, and nothing is reserved for missing bytes', async () => {
    const { attacker, server, sql } = world;
    const { id, endpoint } = await attacker.deploy(BIN);
    const paths = [new URL(endpoint).pathname, '/v1/sources'];
    const head = (path: string | undefined) =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\ncontent-type: application/json\r\ncontent-length: 500000\r\n\r\n`;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
        for (const [n, socket] of sockets.entries()) socket.write(head(paths[n % 2]));
        for (let round = 0; round < ROUNDS; round++) {
          for (const socket of sockets) socket.write('[');
          await sleep(100);
        }
        for (const socket of sockets) socket.destroy();
      }),
    );
    expect(await sql`select from invocations where source_id = ${id}`).toHaveLength(0);
  });
});

// ingress: Slowloris: connections that send a header line now and then, and never the last one.
describe('slow-headers', () => {
  const world = hostile();
  const CONNECTIONS = 300;
  const ROUNDS = 6;

  it('holds its own connections and no others', async () => {
    const { server } = world;
    const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const socket of sockets) socket.write('POST /e/x HTTP/1.1\r\nhost: x\r\n');
        for (let round = 0; round < ROUNDS; round++) {
          for (const socket of sockets) if (socket.writable) socket.write(`x-slow-${round}: 1\r\n`);
          await sleep(100);
        }
        expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
      }),
    );
    for (const socket of sockets) socket.destroy();
  });
});

// ingress: Headers, a body, or nothing at all, sent more slowly than any client has reason to.
describe('slow-senders-cut-off', () => {
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
});

// ingress: Connections that are opened and left alone.
describe('half-open-connections', () => {
  const world = hostile();
  const CONNECTIONS = 1_000;

  it('cost a socket each, and new ones are still accepted', async () => {
    const { server } = world;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
        expect(sockets.filter((socket) => !socket.destroyed)).toHaveLength(CONNECTIONS);
        expect((await fetch(`${server.url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200);
        for (const socket of sockets) socket.destroy();
      }),
    );
  });
});

// ingress: A thousand connections with the beginning of a request on each, all closed in the same
// moment.
describe('half-sent-requests-closed', () => {
  const world = hostile();
  const CONNECTIONS = 1_000;

  it('are closed a few at a time, and others are served in between', async () => {
    const { server } = world;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => open(server)));
        for (const socket of sockets) socket.resume().write('POST /e/');
        expect((await fetch(`${server.url}/healthz`, { headers: { connection: 'close' } })).status).toBe(200);
        for (const socket of sockets) socket.end();
        await Promise.all(sockets.map(whenClosed));
      }),
    );
  });
});

// ingress: One address that connects, asks, and is gone before the answer, as fast as it can.
describe('connection-churn', () => {
  const world = hostile();
  const CONNECTIONS = 1_500;
  const AT_ONCE = 50;
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

  it('every request is taken or dropped, and the neighbour is served', async () => {
    const { attacker, server } = world;
    const { endpoint } = await attacker.deploy(BIN);
    const request = `POST ${new URL(endpoint).pathname} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}`;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        let left = CONNECTIONS;
        const churn = async () => {
          while (left-- > 0) {
            const socket = await open(server);
            socket.write(request, () => socket.resetAndDestroy());
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, churn));
        await world.untilIdle();
      }),
    );
    const answer = await fetch(endpoint, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(200);
  });
});
