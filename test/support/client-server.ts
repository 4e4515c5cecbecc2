import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

export interface ClientServer {
  url: string;
  /** Unanswered requests with open connections. */
  unanswered(): number;
  stop(): Promise<void>;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  url: URL;
  body: Buffer;
}

type Handler = (exchange: Exchange) => void | Promise<void>;

/**
 * A server on loopback for common HTTP clients and service clients. Its answers describe the
 * received requests.
 */
export async function startClientServer(): Promise<ClientServer> {
  const unanswered = new Set<IncomingMessage>();
  const stored = new Map<string, Buffer>();
  const routes: [RegExp, Handler][] = [...plainRoutes(), ...apiRoutes(), ...storageRoutes(stored)];
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://loopback');
    if (url.pathname.endsWith('/never')) {
      unanswered.add(request);
      request.socket.once('close', () => unanswered.delete(request));
      return;
    }
    const body = await readBody(request);
    const handler = routes.find(([pattern]) => pattern.test(url.pathname))?.[1];
    if (handler === undefined) json(response, 404, { message: 'Not Found', path: url.pathname });
    else await handler({ request, response, url, body });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    unanswered: () => unanswered.size,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function plainRoutes(): [RegExp, Handler][] {
  const attempts = { flaky: 0 };
  return [
    [
      /^\/(json|redirected)$/,
      ({ request, response, url, body }) => {
        response.setHeader('x-answer', 'yes');
        const query = Object.fromEntries(url.searchParams);
        const parsed: unknown = body.length === 0 ? null : JSON.parse(body.toString());
        json(response, 200, { method: request.method, query, body: parsed });
      },
    ],
    [/^\/form$/, ({ response, body }) => json(response, 200, formOf(body))],
    [/^\/multipart$/, async ({ request, response, body }) => json(response, 200, await multipartOf(request, body))],
    [/^\/download$/, ({ response, url }) => sendPattern(response, Number(url.searchParams.get('bytes')))],
    [/^\/upload$/, ({ response, body }) => json(response, 200, { bytes: body.length, isPattern: isPattern(body) })],
    [
      /^\/gzip$/,
      ({ response }) => {
        const packed = gzipSync(JSON.stringify({ text: 'z'.repeat(50_000) }));
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(packed);
      },
    ],
    [/^\/redirect$/, ({ response }) => void response.writeHead(302, { location: '/json' }).end()],
    [/^\/redirect-keeping$/, ({ response }) => void response.writeHead(307, { location: '/redirected' }).end()],
    [/^\/error$/, ({ response }) => json(response, 422, { reason: 'refused' })],
    [
      /^\/flaky$/,
      ({ response }) => {
        attempts.flaky += 1;
        json(response, attempts.flaky === 1 ? 503 : 200, { attempt: attempts.flaky });
      },
    ],
  ];
}

/** Enough of GraphQL, Slack, Stripe, GitHub and Google Drive for their clients to work against. */
function apiRoutes(): [RegExp, Handler][] {
  return [
    [/\/graphql$/, answerGraphql],
    [
      /^\/slack\/chat\.postMessage$/,
      ({ request, response, body }) =>
        json(response, 200, { ok: true, received: formOf(body), authorization: request.headers.authorization }),
    ],
    [
      /^\/slack\/files\.upload$/,
      async ({ request, response, body }) =>
        json(response, 200, { ok: true, received: await multipartOf(request, body) }),
    ],
    [
      /^\/slack\/users\.list$/,
      ({ response, body }) => {
        const isSecond = formOf(body)['cursor'] === 'next';
        const members = isSecond ? ['cy'] : ['ada', 'bob'];
        json(response, 200, { ok: true, members, response_metadata: { next_cursor: isSecond ? '' : 'next' } });
      },
    ],
    [/^\/slack\//, ({ response }) => json(response, 200, { ok: false, error: 'message_not_found' })],
    [
      /^\/v1\/customers$/,
      ({ response, body }) => json(response, 200, { id: 'cus_1', object: 'customer', received: formOf(body) }),
    ],
    [
      /^\/v1\/charges$/,
      ({ response, url }) => {
        const isSecond = url.searchParams.get('starting_after') === 'ch_2';
        const data = (isSecond ? ['ch_3'] : ['ch_1', 'ch_2']).map((id) => ({ id, object: 'charge' }));
        json(response, 200, { object: 'list', url: '/v1/charges', has_more: !isSecond, data });
      },
    ],
    [
      /^\/v1\/customers\/missing$/,
      ({ response }) =>
        json(response, 404, { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'None' } }),
    ],
    [
      /^\/octokit\/repos\//,
      ({ request, response, url, body }) => {
        const { authorization } = request.headers;
        const path = url.pathname.replace('/octokit', '');
        json(response, 201, { path, authorization, body: JSON.parse(body.toString()) as unknown });
      },
    ],
    [
      /^\/drive\/v3\/files$/,
      ({ request, response, url }) => {
        const { authorization } = request.headers;
        json(response, 200, { files: [{ id: 'f1' }], q: url.searchParams.get('q'), authorization });
      },
    ],
    [/^\/drive\/v3\/files\/f1$/, ({ response }) => sendPattern(response, 300_000)],
    [
      /^\/upload\/drive\/v3\/files$/,
      ({ request, response, body }) => {
        const type = request.headers['content-type']?.split(';')[0];
        json(response, 200, { type, isLongEnough: body.length > 70_000, hasName: body.includes('"data.bin"') });
      },
    ],
  ];
}

function answerGraphql({ request, response, body }: Exchange): void {
  const { variables } = JSON.parse(body.toString()) as { variables: { name?: string } };
  if (variables.name === undefined) return json(response, 200, { errors: [{ message: 'name is missing' }] });
  const key = request.headers['x-key'];
  json(response, 200, { data: { greeting: `Hello ${variables.name}`, ...(key === undefined ? {} : { key }) } });
}

/** One S3 bucket, addressed by path. */
function storageRoutes(stored: Map<string, Buffer>): [RegExp, Handler][] {
  return [
    [
      /^\/s3\/bucket\/?$/,
      ({ response, url }) => {
        const listed = [
          ['a &amp; b', 1],
          ['c', 22],
        ].map(
          ([key, size]) =>
            `<Contents><Key>${url.searchParams.get('prefix')}${key}</Key><Size>${size}</Size></Contents>`,
        );
        xml(response, 200, `<ListBucketResult><KeyCount>2</KeyCount>${listed.join('')}</ListBucketResult>`);
      },
    ],
    [
      /^\/s3\/bucket\//,
      async ({ request, response, url, body }) => {
        if (request.method === 'PUT') {
          stored.set(url.pathname, unchunk(request, body));
          response.writeHead(200, { etag: '"1"' }).end();
          return;
        }
        const found = stored.get(url.pathname);
        if (found === undefined) xml(response, 404, '<Error><Code>NoSuchKey</Code><Message>None</Message></Error>');
        else await sendChunks(response.writeHead(200, { 'content-length': found.length }), found);
      },
    ],
  ];
}

/** Newer S3 clients send `aws-chunked`: sizes in hexadecimal, a line each, before their bytes. */
function unchunk(request: IncomingMessage, body: Buffer): Buffer {
  if (request.headers['content-encoding']?.includes('aws-chunked') !== true) return body;
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function formOf(body: Buffer): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(body.toString()));
}

async function multipartOf(request: IncomingMessage, body: Buffer): Promise<Record<string, unknown>> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  // oxlint-disable-next-line typescript/no-deprecated -- slow for a server, and a second opinion on what the client sent
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  const fields: Record<string, unknown> = {};
  for (const [name, value] of form) {
    if (typeof value === 'string') fields[name] = value;
    else {
      const bytes = Buffer.from(await value.arrayBuffer());
      fields[name] = { name: value.name, type: value.type, bytes: bytes.length, isPattern: isPattern(bytes) };
    }
  }
  return fields;
}

function isPattern(bytes: Uint8Array): boolean {
  return bytes.every((byte, i) => byte === i % 251);
}

function sendPattern(response: ServerResponse, length: number): Promise<void> {
  return sendChunks(
    response.writeHead(200, { 'content-type': 'application/octet-stream' }),
    Buffer.from(Uint8Array.from({ length }, (_, i) => i % 251)),
  );
}

/** In three parts that cannot arrive as one. */
async function sendChunks(response: ServerResponse, bytes: Buffer): Promise<void> {
  const part = Math.ceil(bytes.length / 3);
  for (let at = 0; at < bytes.length; at += part) {
    response.write(bytes.subarray(at, at + part));
    await sleep(5);
  }
  response.end();
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function xml(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${text}`);
}
