import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';

type Message = { id: string; event: string; data: string };
type Options = { path?: Record<string, string>; signal?: AbortSignal; header?: Record<string, string> };

/**
 * The part of the client used here: the types of the client need a file that is made of the OpenAPI
 * document.
 */
interface ClientModule {
  createClient: (options: { url: string; apiKey: string }) => {
    get(path: string, options?: Options): Promise<unknown>;
    post(path: string): Promise<unknown>;
    all(path: string): AsyncGenerator<{ id: string }>;
    stream(path: string, options: Options): AsyncGenerator<Message>;
  };
  HeadwaterProblem: new (status: number, body: unknown) => Error;
}

const load = (name: string): Promise<unknown> => import(new URL(`../../client/src/${name}.ts`, import.meta.url).href);
const { createClient, HeadwaterProblem } = (await load('index')) as ClientModule;
const { readStream } = (await load('read-stream')) as {
  readStream: (body: ReadableStream<Uint8Array>, maxSilenceMs?: number) => AsyncGenerator<Message>;
};

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A server that answers as told, and the client of it. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse, nth: number) => void) {
  let requests = 0;
  const server = createServer((request, response) => answer(request, response, ++requests)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = createClient({ url: `http://127.0.0.1:${port}/`, apiKey: 'k' });
  return { client, count: () => requests };
}

test('a refusal with Retry-After is tried again, three times at most, and one without is not', async () => {
  const { client, count } = await serve((_, response, nth) => {
    response.writeHead(nth < 3 ? 429 : 200, nth < 3 ? { 'retry-after': '0' } : {}).end('{"data":[]}');
  });
  expect(await client.get('/v1/webhooks')).toEqual({ data: [] });
  expect(count()).toBe(3);
  const busy = await serve((_, response) => void response.writeHead(503, { 'retry-after': '0' }).end());
  await expect(busy.client.get('/v1/webhooks')).rejects.toMatchObject({ status: 503, code: 'HTTP_503' });
  expect(busy.count()).toBe(4);
  const bare = await serve((_, response) => void response.writeHead(503).end('<html>'));
  await expect(bare.client.get('/v1/webhooks')).rejects.toBeInstanceOf(HeadwaterProblem);
  const patient = await serve((_, response) => void response.writeHead(429, { 'retry-after': '3600' }).end());
  await expect(patient.client.get('/v1/webhooks')).rejects.toMatchObject({ status: 429 });
  expect([bare.count(), patient.count()]).toEqual([1, 1]);
});

test('a change that a lost database may have made is not sent twice', async () => {
  const type = 'urn:headwater:error:database-away';
  const { client, count } = await serve((request, response, nth) => {
    if (request.method === 'GET' && nth === 3) return void response.end('{"data":{}}');
    response.writeHead(503, { 'retry-after': '0' }).end(JSON.stringify({ type }));
  });
  await expect(client.post('/v1/sources')).rejects.toMatchObject({ code: 'DATABASE_AWAY' });
  expect(count()).toBe(1);
  expect(await client.get('/v1/users/me')).toEqual({ data: {} });
  expect(count()).toBe(3);
});

test('an option that would have no effect is refused, and nothing is sent', async () => {
  const { client, count } = await serve((_, response) => void response.end('{}'));
  const options = { path: { id: 'dc_1' }, header: { 'if-match': '"1"' } };
  const refused = { name: 'TypeError', message: expect.stringContaining('no option header. Use one of path, query') };
  await expect(client.get('/v1/sources/{id}', options)).rejects.toMatchObject(refused);
  await expect(client.stream('/v1/sources/{id}/sse', options).next()).rejects.toMatchObject(refused);
  await expect(client.stream('/v1/sources/{id}/sse', {}).next()).rejects.toThrow('needs id');
  expect(count()).toBe(0);
});

test('a list is read page after page, also where a page is empty', async () => {
  const pages = [
    { data: [{ id: 'a' }], end: 'a' },
    { data: [], end: 'b' },
    { data: [{ id: 'c' }], end: null },
  ];
  const asked: (string | null)[] = [];
  const { client } = await serve((request, response, nth) => {
    asked.push(new URL(request.url ?? '', 'http://a').searchParams.get('after'));
    const { data, end } = pages[nth - 1] ?? { data: [], end: null };
    response.end(JSON.stringify({ data, page_info: { end_cursor: end } }));
  });
  const ids = [];
  for await (const { id } of client.all('/v1/webhooks')) ids.push(id);
  expect([ids, asked]).toEqual([
    ['a', 'c'],
    [null, 'a', 'b'],
  ]);
});

test('a list without cursors is read once', async () => {
  const { client, count } = await serve((_, response) => {
    response.end(JSON.stringify({ data: [{ id: 'a' }], page_info: { end_cursor: 'a' } }));
  });
  const ids = [];
  for await (const { id } of client.all('/v1/nodes')) ids.push(id);
  expect([ids, count()]).toEqual([['a'], 2]);
});

test('a stream that breaks off goes on behind the last message, and ends with its signal', async () => {
  const seen: (string | undefined)[] = [];
  const { client } = await serve((request, response, nth) => {
    seen.push(request.headers['last-event-id'] as string | undefined);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`id: ${nth}\nevent: e\ndata: {"n":${nth}}\n\n: comment\ndata: unfinished`);
  });
  const ended = new AbortController();
  const messages = [];
  const stream = client.stream('/v1/sources/{id}/sse', { path: { id: 'dc_1' }, signal: ended.signal });
  for await (const message of stream) {
    messages.push(message);
    if (messages.length === 2) break;
  }
  expect(messages).toEqual([
    { id: '1', event: 'e', data: '{"n":1}' },
    { id: '2', event: 'e', data: '{"n":2}' },
  ]);
  expect(seen).toEqual([undefined, '1']);
  ended.abort();
  await expect(
    client.stream('/v1/sources/{id}/sse', { path: { id: 'dc_1' }, signal: ended.signal }).next(),
  ).rejects.toMatchObject({ name: 'AbortError' });
});

test('messages are read whole however they are cut', async () => {
  const text = 'id: 1\r\ndata: a\r\ndata: ü\r\n\r\ndata:b\n\n';
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    const read = [];
    for await (const message of readStream(body)) read.push(message);
    expect(read).toEqual([
      { id: '1', event: '', data: 'a\nü' },
      { id: '1', event: '', data: 'b' },
    ]);
  }
});

test('a stream that goes silent, and a message without end, break off', async () => {
  const silent = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: a\n\ndata: b')),
  });
  const messages = readStream(silent, 20);
  expect(await messages.next()).toMatchObject({ value: { data: 'a' } });
  await expect(messages.next()).rejects.toThrow('Nothing came for 0.02 s');
  for (const line of ['x', `data: ${'x'.repeat(1_017)}\n`]) {
    const piece = new TextEncoder().encode(line.repeat((4 * 1024 * 1024) / line.length));
    const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(piece) });
    await expect(readStream(endless).next()).rejects.toThrow('A message has more than');
  }
});

test('an answer that is no stream ends it', async () => {
  const { client, count } = await serve((_, response) => void response.end('{"data":[]}'));
  const stream = client.stream('/v1/sources/{id}/sse', { path: { id: 'dc_1' } });
  await expect(stream.next()).rejects.toMatchObject({
    status: 200,
    message: 'The server does not stream /v1/sources/dc_1/sse',
  });
  expect(count()).toBe(1);
});
