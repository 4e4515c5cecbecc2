import { Agent, request } from 'undici';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

const LONG = 'reads the orders of a shop and tells what has changed. '.repeat(40);
/** Answers of more than 64 KB are sent in pieces. */
const COMMENT = `// ${LONG}\n`.repeat(100);

/** It decodes nothing by itself. */
const dispatcher = new Agent();

let account: Headwater;
let id: string;

beforeAll(async () => {
  account = await sharedHeadwater();
  const component_code = `${COMMENT}export default { name: 'Orders', version: '1', description: ${JSON.stringify(LONG)}, run() {} };`;
  id = (await account.api('POST', '/components', { component_code })).data.id;
});
afterAll(() => dispatcher.destroy());

async function read(path: string, acceptEncoding?: string) {
  const { headers, body } = await request(`${account.url}${path}`, {
    dispatcher,
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      ...(acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding }),
    },
  });
  return { headers, bytes: Buffer.from(await body.arrayBuffer()) };
}

const parse = (bytes: Buffer) => JSON.parse(bytes.toString()) as { data: unknown };

test('an answer is encoded as the client takes it, and has the same content', async () => {
  const path = '/v1/components';
  const plain = await read(path);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.headers['vary']).toContain('accept-encoding');
  const brotli = await read(path, 'gzip, deflate, br');
  expect(brotli.headers['content-encoding']).toBe('br');
  expect(parse(brotliDecompressSync(brotli.bytes))).toEqual(parse(plain.bytes));
  const gzip = await read(path, 'gzip, br;q=0');
  expect(gzip.headers['content-encoding']).toBe('gzip');
  expect(parse(gunzipSync(gzip.bytes))).toEqual(parse(plain.bytes));
  expect(gzip.bytes.length).toBeLessThan(plain.bytes.length / 3);
  for (const none of ['identity', 'deflate', 'gzip;q=0, br;q=0', '*;q=0'])
    expect((await read(path, none)).headers['content-encoding']).toBeUndefined();
});

test('an answer that is sent in pieces is encoded too', async () => {
  const path = `/v1/components/${id}`;
  const plain = await read(path);
  expect(Number(plain.headers['content-length'])).toBe(plain.bytes.length);
  expect(plain.bytes.length).toBeGreaterThan(200_000);
  const { headers, bytes } = await read(path, 'br, gzip');
  expect(headers['content-encoding']).toBe('gzip');
  expect(parse(gunzipSync(bytes))).toEqual(parse(plain.bytes));
  expect(bytes.length).toBeLessThan(plain.bytes.length / 10);
});

test('a short answer is sent as it is', async () => {
  const { headers, bytes } = await read('/v1/webhooks', 'gzip, br');
  expect(headers['content-encoding']).toBeUndefined();
  expect(parse(bytes)).toMatchObject({ data: [] });
});
