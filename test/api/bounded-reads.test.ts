import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { longestTurnMs, slowness } from '../support/longest-turn.ts';
import { fc } from '../support/properties.ts';
import { afterEach, expect, test } from 'vitest';
import { boundReads } from '../../api/src/bounded-reads.ts';

/* A client decides the number of chunks of a body, and how many it sends at once. */

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
const END = '0\r\n\r\n';
const inBytes = (count: number) => '1\r\na\r\n'.repeat(count);

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

/** A connection to a server that takes in gulps. */
async function connectTo(handle: Handle): Promise<Socket> {
  const server = createServer((request, response) => {
    gulps.began(request, response);
    handle(request, response);
  });
  const gulps = boundReads(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  stops.push(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

async function answersOf(client: Socket, count: number): Promise<string[]> {
  let text = '';
  client.setEncoding('latin1').on('data', (piece: string) => (text += piece));
  await expect.poll(() => text.split('</>').length - 1, { interval: 20 }).toBe(count);
  return Array.from(text.matchAll(/<>(.*?)<\/>/gs), ([, body = '']) => body);
}

const echo: Handle = (request, response) => {
  let body = '';
  request.setEncoding('latin1').on('data', (piece: string) => (body += piece));
  request.on('end', () => response.end(`<>${request.url}${body}</>`));
};

test('a body in chunks of a byte leaves the thread to others, and comes whole', async () => {
  const CHUNKS = 100_000;
  let turn = 0;
  const perTurn = new Map<number, number>();
  let isOver = false;
  const client = await connectTo((request, response) => {
    request.on('data', () => perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1));
    request.on('end', () => response.end('<></>'));
  });
  const turns = async () => {
    for (; !isOver; turn++) await nextTurn();
  };
  const counting = turns();
  client.write(HEAD + inBytes(CHUNKS) + END);
  await answersOf(client, 1);
  isOver = true;
  await counting;
  const counts = [...perTurn.values()];
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(CHUNKS);
  // Turns of two milliseconds may follow each other. One read of Node holds ten thousand pieces.
  expect(Math.max(...counts)).toBeLessThan(8_000);
  expect(counts.length).toBeGreaterThan(CHUNKS / 8_000);
});

test.each(['before it is read', 'while it is read a byte at a time'])(
  'no more than some kilobytes of a body in chunks of a byte wait in memory %s',
  async (when) => {
    const CHUNKS = 200_000;
    let parked = 0;
    const client = await connectTo(async (request, response) => {
      let bytes = 0;
      request.on('data', (piece: Buffer) => {
        bytes += piece.length;
        parked = Math.max(parked, request.readableLength);
        if (when !== 'before it is read' && bytes < 500) request.pause();
      });
      request.on('end', () => response.end(`<>${bytes}</>`));
      request.pause();
      for (let turn = 0; turn < 500; turn++) {
        await sleep(1);
        if (when !== 'before it is read') request.resume();
      }
      parked = Math.max(parked, request.readableLength);
      request.resume();
    });
    client.write(HEAD + inBytes(CHUNKS) + END);
    expect(await answersOf(client, 1)).toEqual([String(CHUNKS)]);
    expect(parked).toBeGreaterThan(0);
    expect(parked).toBeLessThan(1_024);
  },
);

test('a body whose length was announced is taken as it is read', async () => {
  let pieces = 0;
  const client = await connectTo((request, response) => {
    request.on('data', () => pieces++).on('end', () => response.end('<></>'));
  });
  client.write(`POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n${'a'.repeat(1_000_000)}`);
  await answersOf(client, 1);
  // Node reads 64 KB at once.
  expect(pieces).toBeLessThan(200);
});

const postOf = (body: string) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

test('a body in chunks of a byte behind one whose length was announced is taken as any other', async () => {
  const CHUNKS = 10_000;
  let [turn, parked, isOver] = [0, 0, false];
  const perTurn = new Map<number, number>();
  const waiting: IncomingMessage[] = [];
  const client = await connectTo((request, response) => {
    waiting.push(request);
    request.on('end', () => response.end(`<>${request.headers['content-length'] ?? ''}</>`));
  });
  const write = () => client.write((postOf('a'.repeat(3_000)) + HEAD + inBytes(CHUNKS) + END).repeat(5));
  write();
  for (let turns = 0; turns < 200; turns++) {
    await nextTurn();
    parked = Math.max(parked, ...waiting.map(({ readableLength }) => readableLength));
  }
  // The announced ones are read in one piece.
  expect(parked).toBeLessThanOrEqual(3_000);
  const read = (request: IncomingMessage) =>
    request.on('data', () => perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1)).resume();
  const reading = (async () => {
    for (let next = 0; !isOver; turn++) {
      for (; next < waiting.length; next++) read(waiting[next] as IncomingMessage);
      await nextTurn();
    }
  })();
  expect(await answersOf(client, 10)).toEqual(Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? '3000' : '')));
  isOver = true;
  await reading;
  expect(Math.max(...perTurn.values())).toBeLessThan(8_000);
});

test('a dropped body in chunks of a byte is read in bounded parts of a turn', async () => {
  const client = await connectTo((_, response) => response.end('<></>'));
  client.write(HEAD);
  await answersOf(client, 1);
  const chunks = inBytes(10_000);
  const longestMs = await longestTurnMs(async () => {
    for (let turns = 0; turns < 2_000; turns++) {
      if (client.writableLength < chunks.length) client.write(chunks);
      await nextTurn();
    }
  });
  expect(longestMs / slowness()).toBeLessThan(50);
});

test('answers that are not read keep requests waiting, and all are answered at last', async () => {
  const REQUESTS = 200;
  let begun = 0;
  const client = await connectTo((request, response) => {
    begun++;
    response.end(`<>${request.url}${'a'.repeat(100_000)}</>`);
  });
  client.pause();
  client.write(
    Array.from({ length: REQUESTS }, (_, n) => `GET /${n} HTTP/1.1\r\nhost: ${'x'.repeat(300)}\r\n\r\n`).join(''),
  );
  await expect.poll(() => begun).toBeGreaterThan(0);
  for (let turn = 0; turn < 100; turn++) await nextTurn();
  expect(begun).toBeLessThan(REQUESTS);
  client.resume();
  const answers = await answersOf(client, REQUESTS);
  expect(answers.map((text) => text.replace(/a+$/, ''))).toEqual(Array.from({ length: REQUESTS }, (_, n) => `/${n}`));
});

test('a connection that node has paused for its answers is not let go on by the end of a rest', async () => {
  const MORE = 100;
  const client = await connectTo((request, response) => {
    // More than the system takes of a connection, and then more than node queues behind it.
    if (request.url === '/slow') setTimeout(() => response.end(`<>/slow${'a'.repeat(50_000_000)}</>`), 50);
    else request.resume().on('end', () => response.end(`<>${request.url}${'a'.repeat(100_000)}</>`));
  });
  client.pause();
  client.write(`GET /slow HTTP/1.1\r\nhost: x\r\n\r\n${HEAD}`);
  await sleep(300);
  // The pieces after which it has to rest and the first request that is one too many are in one
  // gulp.
  const more = Array.from({ length: MORE }, (_, n) => `GET /${n} HTTP/1.1\r\nhost: x\r\n\r\n`).join('');
  client.write(inBytes(560) + END + more);
  await sleep(200);
  client.resume();
  const answers = await answersOf(client, MORE + 2);
  const urls = ['/slow', '/', ...Array.from({ length: MORE }, (_, n) => `/${n}`)];
  expect(answers.map((text) => text.replace(/a+$/, ''))).toEqual(urls);
});

test('requests of all shapes, cut anywhere, are heard as they were sent', async () => {
  const chunked = fc.record({
    pieces: fc.array(fc.integer({ min: 1, max: 5_000 }), { maxLength: 8 }),
    bytes: fc.integer({ min: 0, max: 3_000 }),
  });
  const announced = fc.integer({ min: 0, max: 20_000 });
  const request = fc.oneof(chunked, announced);
  const cuts = fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 6 }), cuts, async (requests, lengths) => {
      const client = await connectTo(echo);
      const sent = requests.map((one, n) => (typeof one === 'number' ? withLength(n, one) : inChunks(n, one)));
      const text = sent.map(({ wire }) => wire).join('');
      const heard = answersOf(client, requests.length);
      for (let at = 0, n = 0; at < text.length; n++) {
        const length = lengths[n % lengths.length] ?? 1;
        client.write(text.slice(at, at + length));
        at += length;
        await nextTurn();
      }
      expect(await heard).toEqual(sent.map(({ body }, n) => `/${n}${body}`));
      for (const stop of stops.splice(0)) stop();
    }),
    { numRuns: 25 },
  );
});

const letters = (count: number, seed: number) =>
  String.fromCharCode(...Array.from({ length: count }, (_, n) => 97 + ((n * 7 + seed) % 26)));

function withLength(n: number, length: number) {
  const body = letters(length, n);
  return { body, wire: `POST /${n} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n${body}` };
}

function inChunks(n: number, { pieces, bytes }: { pieces: number[]; bytes: number }) {
  const parts = [...pieces, ...Array.from({ length: bytes }, () => 1)].map((length, at) => letters(length, n + at));
  const wire = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
  return { body: parts.join(''), wire: `${HEAD.replace('/', `/${n}`)}${wire}${END}` };
}
