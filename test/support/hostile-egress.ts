import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import type { AttackOutcome, HostileWorld } from './hostile.ts';
import { eventually } from './eventually.ts';

/** Outcome of each request of an attack: the status of the answer, or the message of the error. */
type Reached = { url: string; status?: number; message?: string };

type Requested = AttackOutcome & { reached: Reached[]; messages: string[] };

/**
 * A component that makes each request and goes on; the last error is the run's. Requests: a URL, or
 * a URL and its init.
 */
const FETCH_EACH = `let last;
for (const [url, init] of event.requests) {
  try {
    const response = await fetch(url, init);
    await response.arrayBuffer();
    this.$emit({ url, status: response.status });
  } catch (error) {
    last = error;
    this.$emit({ url, message: error.message + (error.cause ? ': ' + error.cause.message : '') });
  }
}
if (last) throw last;`;

/**
 * The same with the module http: it leaves names of headers as they are, and says some of them
 * several times.
 */
const REQUEST_EACH = `import http from 'node:http';
const ask = (url, { body, ...options }) => new Promise((resolve, reject) => {
  http.request(url, options, (response) => response.resume().on('end', () => resolve(response.statusCode)))
    .on('error', reject).end(body);
});
export default { name: 'Attack', version: '1', async run(event) {
  let last;
  for (const [url, init = {}] of event.requests) {
    try {
      this.$emit({ url, status: await ask(url, init) });
    } catch (error) {
      last = error;
      this.$emit({ url, message: error.message });
    }
  }
  if (last) throw last;
} };`;

type Request = string | [url: string, init: object];

/**
 * Makes the attacker's component request each URL; `reached`: those that were answered. `before`:
 * code of it that is run first.
 */
export function fetchEach(world: HostileWorld, requests: readonly Request[], before = ''): Promise<Requested> {
  return attackEach(world, `${before}\n${FETCH_EACH}`, requests);
}

/** As fetchEach, with the options that `http.request` takes, and `body`. */
export function requestEach(world: HostileWorld, requests: readonly Request[]): Promise<Requested> {
  return attackEach(world, REQUEST_EACH, requests);
}

async function attackEach(world: HostileWorld, code: string, requests: readonly Request[]): Promise<Requested> {
  const event = { requests: requests.map((request) => (typeof request === 'string' ? [request] : request)) };
  const ran = await world.attack(code, { event });
  const outcomes = ran.events as Reached[];
  if (outcomes.length !== requests.length) throw new Error(`Not every request was made: ${JSON.stringify(ran)}`);
  return {
    ...ran,
    reached: outcomes.filter(({ message }) => message === undefined),
    messages: outcomes.flatMap(({ message }) => message ?? []),
  };
}

/** The run's error after a request that the guard refused. */
export const refusedRun = (message: RegExp) => ({ code: 'COMPONENT_ERROR', message: expect.stringMatching(message) });

export const NOT_PUBLIC = /is not a public address|No public address was found/;

export interface RawServer {
  url: string;
  port: number;
  /** Data from each connection, as Latin-1. */
  received: string[];
  connections: () => number;
  open: () => number;
  /** Connections that were open at the same time. */
  most: () => number;
}

/**
 * An attacker's server on loopback. `serve` handles each connection, or a request after its
 * headers. With `host` 0.0.0.0 it listens on all addresses of this machine, to detect connections
 * to forbidden ones.
 */
export function rawServer(serve: (socket: Socket, request: string) => void, host = '127.0.0.1'): RawServer {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  let most = 0;
  const server = createServer((socket) => {
    const index = received.push('') - 1;
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    socket.on('data', (data) => {
      const before = received[index] ?? '';
      received[index] = before + data.toString('latin1');
      if (!before.includes('\r\n\r\n') && received[index].includes('\r\n\r\n')) serve(socket, received[index]);
    });
  });
  const made: RawServer = {
    url: '',
    port: 0,
    received,
    connections: () => received.length,
    open: () => sockets.size,
    most: () => most,
  };
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    made.port = (server.address() as AddressInfo).port;
    made.url = `http://127.0.0.1:${made.port}`;
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return made;
}

/** Writes as fast as the other side takes it, until it closes. */
export function flood(socket: Socket, chunk: string | Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** Writes a little again and again, until the other side closes. */
export function drip(socket: Socket, chunk: string, everyMs = 20): void {
  const dripping = setInterval(() => socket.write(chunk), everyMs);
  socket.on('close', () => clearInterval(dripping));
}

/** A whole answer of the attacker's server, which closes the connection after it. */
export function response(headers: string, body: string | Buffer = '', status = '200 OK'): Buffer {
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status}\r\nconnection: close\r\n${headers}\r\n`, 'latin1'),
    Buffer.from(body),
  ]);
}

/**
 * Creates an attacker's source that sends events to `webhookUrl`, emits one, and resolves with the
 * first attempt.
 */
export async function deliverOnce(
  { attacker, sql }: HostileWorld,
  webhookUrl: string,
): Promise<{ error?: string; status_code?: number; response?: string }> {
  const webhook = await attacker.api('POST', '/webhooks', { url: webhookUrl });
  if (webhook.status !== 200) throw new Error(`No webhook: ${webhook.text}`);
  const source = await attacker.deploy(
    `export default { name: 'Emit', version: '1', run() { this.$emit({ a: 1 }); } };`,
  );
  const listener_id = webhook.body.data.id as string;
  await attacker.api('POST', '/subscriptions', { emitter_id: source.id, listener_id });
  await attacker.api('POST', `/sources/${source.id}/run`, {});
  return eventually(
    async () => {
      const [row] = await sql`select attempts from deliveries where webhook_id = ${listener_id}`;
      return row?.['attempts'][0];
    },
    { timeoutMs: 20_000, what: 'an attempt at the delivery' },
  );
}
