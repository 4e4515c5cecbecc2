import http, { type ClientRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import https from 'node:https';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { createMock } from './mock-answer.ts';
import type { NodeOrder, NodeResult } from './run-in-node.ts';

/*
 * Runs one bundle in this Node.js, as the guest would run it, with Node's own modules. Every
 * request ends at the mock; what could reach anything else throws. It is what the sandbox is
 * compared with, so it must not be the sandbox.
 */

const BUILTIN_FUNCTION = '__headwaterBuiltin';
const CLOSED = new Set([
  'net',
  'tls',
  'dgram',
  'dns',
  'dns/promises',
  'http2',
  'child_process',
  'worker_threads',
  'cluster',
]);
const require = createRequire(import.meta.url);

type Answered = (response: IncomingMessage) => void;

async function main(): Promise<void> {
  const { file, wallMs } = JSON.parse(process.argv[2] ?? '{}') as NodeOrder;
  const answer = createMock();
  let requests = 0;
  const server = http.createServer((request, response) => {
    requests += 1;
    request.resume().on('end', () => {
      const url = String(request.headers['x-mock-url'] ?? request.url);
      const { status, headers, body } = answer({ method: request.method ?? 'GET', url });
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  closeTheRest(port);
  const end = (result: Omit<NodeResult, 'requests'>) => {
    process.stdout.write(`${JSON.stringify({ ...result, requests })}\n`, () => process.exit(0));
  };
  process.on('uncaughtException', (error) => end({ ok: false, message: String(error) }));
  setTimeout(() => end({ ok: false, message: `not done after ${wallMs} ms` }), wallMs);
  try {
    const module = (await import(file)) as { default: { run(): Promise<void> } };
    await module.default.run();
    end({ ok: true, message: '' });
  } catch (error) {
    end({ ok: false, message: String(error) });
  }
}

function closeTheRest(port: number): void {
  const redirected = {
    http: { ...http, ...clientOf('http:', port) },
    https: { ...https, ...clientOf('https:', port) },
  };
  const builtin = (name: string): unknown => {
    if (name === 'http' || name === 'https') return redirected[name];
    if (CLOSED.has(name)) return closedModule(name);
    return require(`node:${name}`);
  };
  const { fetch } = globalThis;
  Object.assign(globalThis, {
    [BUILTIN_FUNCTION]: builtin,
    fetch: (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init);
      const headers = new Headers(request.headers);
      headers.set('x-mock-url', request.url);
      return fetch(new Request(`http://127.0.0.1:${port}/`, new Request(request, { headers })));
    },
    WebSocket: undefined,
    EventSource: undefined,
    console: { ...console, log() {}, info() {}, warn() {}, error() {}, debug() {} },
  });
}

function clientOf(protocol: 'http:' | 'https:', port: number) {
  const request = (
    first: string | URL | RequestOptions,
    second?: RequestOptions | Answered,
    third?: Answered,
  ): ClientRequest => {
    const isUrl = typeof first === 'string' || first instanceof URL;
    const given = typeof second === 'object' ? second : {};
    const options: RequestOptions = isUrl ? { ...urlToHttpOptions(new URL(first)), ...given } : first;
    const answered = typeof second === 'function' ? second : third;
    const { method, path, headers, auth, timeout, signal, hostname, host } = options;
    const outgoing = http.request({
      host: '127.0.0.1',
      port,
      path: path ?? '/',
      ...(method === undefined ? {} : { method }),
      ...(headers === undefined ? {} : { headers }),
      ...(auth === undefined ? {} : { auth }),
      ...(timeout === undefined ? {} : { timeout }),
      ...(signal === undefined ? {} : { signal }),
    });
    outgoing.setHeader('x-mock-url', `${protocol}//${hostname ?? host}${path ?? '/'}`);
    if (answered !== undefined) outgoing.once('response', answered);
    // Clients of https wait for the handshake before they write.
    if (protocol === 'https:') {
      outgoing.once('socket', (socket) => socket.once('connect', () => socket.emit('secureConnect')));
    }
    return outgoing;
  };
  return {
    request,
    get: (first: string | URL | RequestOptions, second?: RequestOptions | Answered, third?: Answered) => {
      const outgoing = request(first, second, third);
      outgoing.end();
      return outgoing;
    },
  };
}

/** Can be imported, destructured and inherited from; a call or construction throws. */
function closedModule(name: string): unknown {
  function refuse(): never {
    throw new Error(`${name} is closed here`);
  }
  return new Proxy(refuse, { get: (target, key) => (key in target ? (Reflect.get(target, key) as unknown) : refuse) });
}

await main();
