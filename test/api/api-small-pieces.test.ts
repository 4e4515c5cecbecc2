import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { LIMITS } from '@headwater/shared';
import { expect, test } from 'vitest';
import { parseJsonText } from '../../api/src/parameters/json-text.ts';
import { readBodyBytes } from '../../api/src/parameters/read-body.ts';
import { parameterKinds, readParameters } from '../../api/src/parameters/read-parameters.ts';
import { createUnfinishedBodies } from '../../api/src/unfinished-bodies.ts';
import { z } from '@hono/zod-openapi';

/* A client decides in how many pieces a body comes. */

test('a byte of a body at a time counts as what it costs', () => {
  const most = LIMITS.maxUnfinishedBodyBytes / LIMITS.minPieceBytes;
  let cutOff = 0;
  const body = createUnfinishedBodies().begin('o_a', undefined, () => cutOff++);
  for (let n = 0; n < most; n++) body?.add(1);
  expect(cutOff).toBe(0);
  body?.add(1);
  expect(cutOff).toBe(1);
});

/** A request with a body in pieces of one byte. */
function inBytes(bytes: Uint8Array): IncomingMessage {
  const pieces = Array.from(bytes, (byte) => Buffer.from([byte]));
  const body = Readable.from(pieces, { objectMode: false });
  return Object.assign(body, { headers: { 'transfer-encoding': 'chunked' } }) as unknown as IncomingMessage;
}

test.each([
  ['characters of several bytes', Buffer.from('ä€😀x')],
  ['a byte order mark, and another', Buffer.from('\uFEFF\uFEFFa')],
  ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xe2, 0x82, 0x62, 0xf0, 0x9f])],
  ['nothing', Buffer.alloc(0)],
])('a body of the REST API in bytes is the same text as in one: %s', async (_, bytes) => {
  const text = new TextDecoder().decode(bytes);
  expect(new TextDecoder().decode(await readBodyBytes(inBytes(bytes), 1_000))).toBe(text);
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

test('a text of more digits than a number has is no number', () => {
  const kinds = parameterKinds(z.object({ limit: z.number() }));
  const read = (limit: string) => readParameters(new Request(`http://localhost/?limit=${limit}`), '', kinds)['limit'];
  expect(read('1'.repeat(300))).toBe(Number('1'.repeat(300)));
  expect(read('1'.repeat(400))).toBe(Infinity);
  expect(read('1'.repeat(401))).toBe('1'.repeat(401));
  expect(read('-1.5')).toBe(-1.5);
});

test('JSON that is announced as a form is read as JSON behind any spaces', () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const kinds = parameterKinds(z.object({ name: z.string() }));
  const body = `${' \n\t\uFEFF'.replace('\uFEFF', '').repeat(1_000)}{"name":"a"}`;
  const request = new Request('http://localhost/', { method: 'POST', headers });
  expect(readParameters(request, body, kinds)).toEqual({ name: 'a' });
});
