import type { LookupAddress } from 'node:dns';
import { type AddressInfo, createServer, isIP, type Socket } from 'node:net';
import { afterAll, beforeAll, expect } from 'vitest';
import { accountLimits, type AccountLimits } from '../../shared/src/index.ts';
import type { FetchOutcome, FetchRequest } from '../../sandbox-runtime/src/sandbox.ts';
import { createEgress } from '../../engine/src/egress/egress.ts';
import type { Resolver } from '../../engine/src/egress/guard.ts';
import { createGuestFetch, type GuestFetch } from '../../engine/src/egress/guest-fetch.ts';
import type { AttackOutcome, HostileWorld } from './hostile.ts';
import { eventually } from './eventually.ts';
import { startReceiver, type Receiver } from './receiver.ts';
import { startTunnelProxy, type TunnelProxy } from './tunnel-proxy.ts';

/** What became of each request of an attack: the status of an answer, or the message of the error. */
type Reached = { url: string; status?: number; message?: string };

/** A component that makes each request and goes on; the last error is the run's. Requests: a URL, or a URL and its init. */
const FETCH_EACH = `let last;
for (const [url, init] of event.requests) {
  try {
    const response = await fetch(url, init);
    await response.arrayBuffer();
    this.$emit({ url, status: response.status });
  } catch (error) {
    last = error;
    this.$emit({ url, message: error.message });
  }
}
if (last) throw last;`;

/** Makes the attacker's component request each URL; `reached`: those that were answered. */
export async function fetchEach(
  world: HostileWorld,
  requests: readonly (string | [url: string, init: object])[],
): Promise<AttackOutcome & { reached: Reached[]; messages: string[] }> {
  const event = { requests: requests.map((request) => (typeof request === 'string' ? [request] : request)) };
  const ran = await world.attack(FETCH_EACH, { event });
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
  /** What each connection has sent, as Latin-1. */
  received: string[];
  connections: () => number;
  open: () => number;
  /** Connections that were open at the same time. */
  most: () => number;
}

/** A server of the attacker on loopback that does what it likes with each connection, or once the request's headers are there. */
export function rawServer(serve: (socket: Socket, request: string) => void): RawServer {
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
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
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

export interface GuardedWorld {
  /** A fetch of the attacker, past everything of the sandbox: the guard alone stands in its way. */
  fetch(url: string, request?: Partial<FetchRequest>): Promise<FetchOutcome>;
  /** Makes the attack and expects the neighbour's requests through the same guard to be answered meanwhile and afterwards. */
  unharmed<T>(attack: () => Promise<T>): Promise<T>;
  /** On 127.0.0.1; the neighbour's as well. */
  receiver: Receiver;
  /** Names that were looked up, the neighbour's left out. */
  lookups: string[];
  /** With `closed`: every connection that was made, as the proxy was asked for it, those of the neighbour left out. */
  connected(): string[];
}

export interface GuardOptions {
  /** The addresses of a name. The default knows none. */
  resolve?: (hostname: string) => string[];
  resolver?: Resolver;
  limits?: Partial<AccountLimits>;
  /**
   * Nothing is allowed that is not public, and what is goes to loopback through a proxy. Otherwise 127.0.0.1 is allowed,
   * and stands for the internet.
   */
  closed?: boolean;
}

const NEIGHBOUR_ADDRESS = '93.184.215.14';

/** Guard and fetch without the rest of the engine, for what needs names and addresses that a test machine has not. */
export function guarded(options: GuardOptions = {}): GuardedWorld {
  const lookups: string[] = [];
  let parts: { guest: GuestFetch; receiver: Receiver; proxy: TunnelProxy } | undefined;
  const address = options.closed === true ? NEIGHBOUR_ADDRESS : '127.0.0.1';
  const resolver: Resolver = (hostname, done) => {
    if (hostname === 'neighbour.test') return done(null, [{ address, family: 4 }]);
    lookups.push(hostname);
    if (options.resolver !== undefined) return options.resolver(hostname, done);
    const found = (options.resolve?.(hostname) ?? []).map(
      (text): LookupAddress => ({ address: text, family: isIP(text) }),
    );
    done(found.length === 0 ? new Error('ENOTFOUND') : null, found);
  };

  beforeAll(async () => {
    const [receiver, proxy] = await Promise.all([startReceiver(), startTunnelProxy()]);
    const egress = createEgress({
      allow: options.closed === true ? [] : ['127.0.0.1'],
      deniedPorts: () => [],
      resolver,
      ...(options.closed === true ? { proxy: `http://127.0.0.1:${proxy.port}` } : {}),
    });
    parts = { guest: createGuestFetch({ egress }), receiver, proxy };
  });
  afterAll(async () => {
    await parts?.guest.stop();
    await Promise.all([parts?.receiver.stop(), parts?.proxy.stop()]);
  });

  function made(): NonNullable<typeof parts> {
    if (parts === undefined) throw new Error('The guard is there from beforeAll on, not before');
    return parts;
  }

  function send(id: string, url: string, request: Partial<FetchRequest> = {}): Promise<FetchOutcome> {
    const tenant = { id, limits: accountLimits(id === 'attacker' ? (options.limits ?? {}) : {}) };
    const whole: FetchRequest = { url, method: 'GET', headers: [], redirect: 'follow', ...request };
    return made().guest.fetch(tenant, whole, new AbortController().signal);
  }

  async function neighbourIsServed(): Promise<void> {
    const { port } = new URL(made().receiver.url);
    const outcome = await send('neighbour', `http://neighbour.test:${port}/neighbour`);
    expect(outcome).toMatchObject({ ok: true, status: 200 });
  }

  return {
    fetch: (url, request) => send('attacker', url, request),
    async unharmed(attack) {
      await neighbourIsServed();
      const attacking = attack();
      await neighbourIsServed();
      const answer = await attacking;
      await neighbourIsServed();
      return answer;
    },
    get receiver() {
      return made().receiver;
    },
    lookups,
    connected: () =>
      made()
        .proxy.asked.map(({ authority }) => authority)
        .filter((to) => !to.startsWith(NEIGHBOUR_ADDRESS)),
  };
}

/** A source of the attacker whose events go to `webhookUrl`; makes one, and answers the first attempt at it. */
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
