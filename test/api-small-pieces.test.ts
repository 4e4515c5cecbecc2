import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { CollectedBytes } from '../api/src/collected-bytes.ts';
import { readRequestBody } from '../api/src/ingest/read-request-body.ts';
import { parseJsonText } from '../api/src/parameters/json-text.ts';
import { readBodyText } from '../api/src/parameters/read-body.ts';
import { parameterKinds, readParameters } from '../api/src/parameters/read-parameters.ts';
import { createUnfinishedBodies } from '../api/src/unfinished-bodies.ts';
import { z } from '@hono/zod-openapi';

/* A client decides in how many pieces a body comes. */

test('pieces of all sizes are put together as they came', () => {
  const sizes = [1, 3, 700, 20_000, 65_536, 5, 0, 70_000, 2];
  const collected = new CollectedBytes(1_000_000);
  const pieces = sizes.map((size, n) => Buffer.alloc(size, n + 1));
  for (const piece of pieces) collected.add(piece);
  expect(collected.length).toBe(161_247 - 5_000);
  expect(collected.join().equals(Buffer.concat(pieces))).toBe(true);
  expect(new CollectedBytes(10).join()).toHaveLength(0);
});

test('pieces do not keep alive what they were read with, and take twice their room at most', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const collected = new CollectedBytes(LIMITS.maxHttpBodyBytes);
  const reads = Array.from({ length: 1_000 }, () => {
    const read = Buffer.allocUnsafeSlow(64 * 1024);
    collected.add(read.subarray(100, 101));
    return new WeakRef(read.buffer);
  });
  // What a WeakRef was made of is alive until the end of that turn.
  await setImmediate();
  collect();
  expect(reads.filter((read) => read.deref() !== undefined)).toHaveLength(0);
  expect(collected.join()).toHaveLength(1_000);
  expect(collected.join().buffer.byteLength).toBeLessThanOrEqual(2_000);
});

test('a body of one piece is kept as it is, and none has more room than it can become', () => {
  const piece = Buffer.allocUnsafeSlow(50_000);
  const collected = new CollectedBytes(60_000);
  collected.add(piece);
  expect(collected.join().buffer).toBe(piece.buffer);
  collected.add(Buffer.alloc(10));
  expect(collected.join().buffer.byteLength).toBe(60_000);
});

test('a byte of a body at a time counts as what it costs', () => {
  const most = LIMITS.maxUnfinishedBodyBytes / LIMITS.minBodyPieceBytes;
  let cutOff = 0;
  const body = createUnfinishedBodies().begin('o_a', undefined, () => cutOff++);
  for (let n = 0; n < most; n++) body?.add(1);
  expect(cutOff).toBe(0);
  body?.add(1);
  expect(cutOff).toBe(1);
});

test('while a body rests, no pieces of it wait in memory', async () => {
  const CHUNKS = 100_000;
  const heard: { parked: number; rests: number; length: number }[] = [];
  const answer = async (request: IncomingMessage) => {
    let parked = 0;
    let rests = 0;
    request.socket.on('pause', () => {
      rests++;
      // What was taken before the rest began, and what came after.
      setTimeout(() => (parked = Math.max(parked, request.readableLength)), 5);
    });
    const body = await readRequestBody(request, CHUNKS, () => 10);
    heard.push({ parked, rests, length: body.kind === 'complete' ? body.bytes.length : -1 });
    request.socket.destroy();
  };
  const server = createServer((request) => void answer(request)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
  client.write('POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  client.write('1\r\na\r\n'.repeat(CHUNKS) + '0\r\n\r\n');
  await once(client.resume(), 'close');
  server.close();
  expect(heard).toMatchObject([{ parked: 0, length: CHUNKS }]);
  expect(heard[0]?.rests).toBeGreaterThan(1);
});

/** A request whose body comes in pieces of one byte. */
function inBytes(bytes: Uint8Array): Request {
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  return new Request('http://localhost/', { method: 'POST', body, duplex: 'half' } as RequestInit);
}

test.each([
  ['characters of several bytes', Buffer.from('ä€😀x')],
  ['a byte order mark, and another', Buffer.from('\uFEFF\uFEFFa')],
  ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xe2, 0x82, 0x62, 0xf0, 0x9f])],
  ['nothing', Buffer.alloc(0)],
])('a body of the REST API in bytes is the same text as in one: %s', async (_, bytes) => {
  const text = new TextDecoder().decode(bytes);
  expect(await readBodyText(inBytes(bytes))).toBe(text);
});

test('a position is told of a mistake in a text of ordinary length, and not searched for in a longer one', () => {
  const broken = (chars: number) => `${'['.padEnd(chars - 1)}x`;
  const most = 128 * 1024;
  const message = (text: string) => {
    try {
      return parseJsonText(text, 'body');
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(message(broken(most))).toBe(`The body is not valid JSON: unexpected "x" at position ${most - 1}`);
  expect(message(broken(most + 1))).toBe('The body is not valid JSON');
});

test('a text of more digits than a number has is no number', async () => {
  const kinds = parameterKinds(z.object({ limit: z.number() }));
  const read = async (limit: string) =>
    (await readParameters(new Request(`http://localhost/?limit=${limit}`), kinds, { withBody: false }))['limit'];
  expect(await read('1'.repeat(300))).toBe(Number('1'.repeat(300)));
  expect(await read('1'.repeat(400))).toBe(Infinity);
  expect(await read('1'.repeat(401))).toBe('1'.repeat(401));
  expect(await read('-1.5')).toBe(-1.5);
});

test('JSON that is announced as a form is read as JSON, whatever spaces precede it', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const kinds = parameterKinds(z.object({ name: z.string() }));
  const body = `${' \n\t\uFEFF'.replace('\uFEFF', '').repeat(1_000)}{"name":"a"}`;
  const request = new Request('http://localhost/', { method: 'POST', headers, body });
  expect(await readParameters(request, kinds, { withBody: true })).toEqual({ name: 'a' });
});
