import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { exchange, open, whenClosed, withinMemory } from '../../support/hostile-ingress.ts';
import { inTurn } from '../../support/hostile-turn.ts';
import { hostile } from '../../support/hostile.ts';
import { sampleCases } from '../../support/long-run.ts';

// ingress: Bodies that never end, in half a million chunks of one byte each, to an endpoint and to
// the API.
describe('bodies-in-chunks-of-one-byte', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run() {} };`;
  const CLIENTS = 6;
  // Kept one by one, those of all clients would be one and a half gigabytes.
  const CHUNKS = '1\r\na\r\n'.repeat(480_000);
  // The chunks count as 1.5 GB, of which 128 MB may be held. Seconds pass between two cut-offs.
  const LEAST_CUT_OFF = 2;
  // Another attack may hold as many body bytes as the limit allows at the same time.
  const GROWTH_BYTES = 512 * 1024 * 1024;

  it.each(sampleCases(['api', 'endpoint'], 2))(
    'take no more memory than they count in an %s, and those begun first are cut off',
    async (to) => {
      const { attacker, server } = world;
      const { pathname } = new URL((await attacker.deploy(BIN)).endpoint);
      const path = to === 'api' ? '/v1/webhooks' : pathname;
      const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\ntransfer-encoding: chunked\r\n\r\n`;
      const attack = async () => {
        const sockets: Socket[] = [];
        for (let n = 0; n < CLIENTS; n++) sockets.push(await open(server));
        for (const socket of sockets) socket.write(head + CHUNKS);
        const cutOff = () => sockets.filter(({ closed }) => closed);
        await eventually(() => Promise.resolve(cutOff().length >= LEAST_CUT_OFF), {
          what: 'some to be cut off',
          timeoutMs: 60_000,
        });
        expect(cutOff().length).toBeLessThan(CLIENTS);
        // On a full machine the second body may begin before the first.
        const early = sockets.slice(0, cutOff().length + 1).filter(({ closed }) => closed);
        expect(early).toHaveLength(cutOff().length);
        const few = `POST ${pathname} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`;
        expect((await exchange(server, few, { timeoutMs: 30_000 })).statuses).toEqual([200]);
        for (const socket of sockets) socket.destroy();
      };
      await inTurn(world.sql, 'bodies', () => world.unharmed(() => withinMemory(server, attack, GROWTH_BYTES)));
    },
  );
});

// ingress: Chunks with sizes that overflow, are negative, unfinished or no numbers, and endless
// chunk extensions.
describe('broken-chunks', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;
  const CHUNKS = [
    'ffffffffffffffffff\r\nx',
    '-1\r\nx',
    'zz\r\nx',
    '5 \r\nhello',
    '5\nhello\n',
    '5\r\nhelloXX',
    `5;${'x'.repeat(200_000)}\r\nhello`,
    '0x5\r\nhello',
  ];

  it('is a 400 or a 413, and runs nothing', async () => {
    const { attacker, server, sql } = world;
    const { id, endpoint } = await attacker.deploy(BIN);
    const head = `POST ${new URL(endpoint).pathname} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const chunk of CHUNKS) {
          const { statuses, closed } = await exchange(server, head + chunk + '\r\n0\r\n\r\n');
          expect([chunk.slice(0, 20), closed]).toEqual([chunk.slice(0, 20), true]);
          expect(statuses).toHaveLength(1);
          expect([400, 413]).toContain(statuses[0]);
        }
      }),
    );
    await world.untilIdle();
    expect(await sql`select from events where emitter_id = ${id}`).toHaveLength(0);
  });
});

// ingress: Request smuggling by a content length beside chunks, and by disguised transfer
// encodings.
describe('content-length-and-transfer-encoding', () => {
  const world = hostile();
  const FRAMINGS = [
    'content-length: 4\r\ntransfer-encoding: chunked',
    'transfer-encoding: chunked\r\ncontent-length: 4',
    'transfer-encoding: chunked, identity',
    'transfer-encoding: xchunked',
    'transfer-encoding: identity, chunked\r\ntransfer-encoding: x',
    'transfer-encoding : chunked',
    'transfer-encoding: chunked\r\n\tx',
    'transfer-encoding\r\n : chunked',
  ];

  it('one request at most is seen, and the connection ends', async () => {
    const { server } = world;
    await world.unharmed(async () => {
      for (const framing of FRAMINGS) {
        const smuggled = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
        const bytes = `POST /e/x HTTP/1.1\r\nhost: x\r\n${framing}\r\n\r\n0\r\n\r\n${smuggled}`;
        const answer = await exchange(server, bytes);
        expect([framing, answer]).toMatchObject([framing, { statuses: [400], closed: true }]);
      }
    });
  });
});

// ingress: Request smuggling by two content lengths, or by one that is no number.
describe('duplicate-content-length', () => {
  const world = hostile();
  const LENGTHS = [
    'content-length: 5\r\ncontent-length: 60',
    'content-length: 5, 60',
    'content-length: +5',
    'content-length: 0x5',
    'content-length: -1',
    'content-length: 5 5',
    'content-length: 5;x',
    `content-length: ${'9'.repeat(30)}`,
  ];

  it('is a 400, and the rest is never taken for a request', async () => {
    const { server } = world;
    await world.unharmed(async () => {
      for (const lengths of LENGTHS) {
        const bytes = `POST /e/x HTTP/1.1\r\nhost: x\r\n${lengths}\r\n\r\nhelloGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`;
        expect([lengths, await exchange(server, bytes)]).toMatchObject([lengths, { statuses: [400], closed: true }]);
      }
    });
  });
});

// ingress: Bodies that end before their announced length, by a closed, a half-closed and a reset
// connection.
describe('less-than-announced', () => {
  const world = hostile();
  const BIN = `export default { name: 'Bin', version: '1', props: { http: '$.interface.http' }, run(event) { this.$emit(event); } };`;

  it('are never taken for whole: nothing is stored and nothing runs', async () => {
    const { attacker, server, sql } = world;
    const { id, endpoint } = await attacker.deploy(BIN);
    const framings = ['content-length: 100', 'transfer-encoding: chunked'];
    await world.unharmed(async () => {
      for (const framing of framings) {
        for (const end of ['destroy', 'end', 'resetAndDestroy'] as const) {
          const socket = await open(server);
          socket.write(`POST ${new URL(endpoint).pathname} HTTP/1.1\r\nhost: x\r\n${framing}\r\n\r\n5\r\nhello\r\n`);
          socket.resume()[end]();
          await whenClosed(socket);
        }
      }
    });
    const rows =
      await sql`select id from invocations where source_id = ${id} union select id from runs where source_id = ${id}`;
    expect(rows).toHaveLength(0);
    expect(await sql`select from events where emitter_id = ${id}`).toHaveLength(0);
  });
});

// ingress: Bodies far over the bound, sent on and on after the refusal, announced, chunked and
// with Expect.
describe('refused-body-that-goes-on', () => {
  const world = hostile();
  const BYTES = 24 * 1024 * 1024;

  it('are read away up to a bound and then cut off', async () => {
    const { attacker, server } = world;
    const head = (path: string, framing: string) =>
      Buffer.from(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attacker.key}\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`,
      );
    const flood = Buffer.alloc(BYTES, 'x');
    await world.unharmed(() =>
      withinMemory(server, async () => {
        for (const path of ['/e/x', '/v1/sources']) {
          for (const framing of [
            `content-length: ${BYTES}`,
            `transfer-encoding: chunked\r\n\r\n${BYTES.toString(16)}`,
          ]) {
            const { statuses, closed } = await exchange(server, Buffer.concat([head(path, framing), flood]));
            const wrong = statuses.filter((status) => status !== 413 && status !== 404 && status !== 400);
            expect([path, framing.slice(0, 20), wrong, closed]).toEqual([path, framing.slice(0, 20), [], true]);
          }
          const asked = await exchange(server, head(path, `expect: 100-continue\r\ncontent-length: ${BYTES}`));
          expect([path, asked.statuses, asked.closed]).toEqual([path, [413], true]);
        }
      }),
    );
  });
});

// ingress: Requests without end on one connection, none of which waits for an answer.
describe('pipelined-requests', () => {
  const world = hostile();
  const REQUEST = 'GET /e/x HTTP/1.1\r\nhost: x\r\n\r\n';
  /** A million requests, if they were taken. */
  const MAX_CHUNKS = 250;
  const CHUNK = REQUEST.repeat(4_000);

  it('a few are answered in order; with many the connection is closed', async () => {
    const { server } = world;
    await world.unharmed(() =>
      withinMemory(server, async () => {
        const few = await exchange(
          server,
          `${REQUEST.repeat(15)}GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
        );
        expect(few.statuses).toEqual([...Array.from({ length: 15 }, () => 404), 200]);
        const socket = await open(server);
        const closed = whenClosed(socket);
        let chunks = 0;
        while (chunks++ < MAX_CHUNKS && socket.writable) {
          const drained = new Promise<void>((resolve) => void socket.once('drain', resolve));
          if (!socket.write(CHUNK)) await Promise.race([drained, closed]);
        }
        await closed;
        expect(chunks).toBeLessThan(MAX_CHUNKS);
      }),
    );
  });
});
