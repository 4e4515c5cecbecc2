import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { getRequestListener } from '@hono/node-server';
import { HeadwaterError, LIMITS } from '@headwater/shared';
import type { App } from './app-options.ts';
import { type ClientConnections, trackConnections } from './client-connections.ts';
import { boundReads } from './bounded-reads.ts';
import { createEarlyAnswers, type EarlyAnswers, plainProblem } from './early-answers.ts';
import { endpointAddress } from './ingest/endpoint-address.ts';
import type { IngestHandler } from './ingest/ingest-handler.ts';
import { LONG_HOST, longHostOfRequest } from './long-host.ts';
import { bodyTooLarge } from './parameters/read-body.ts';
import { PROBLEM_CONTENT_TYPE } from './problem.ts';
import { stripBasePath } from './web/base-path.ts';
import { IMPORT_PATH } from './routes/archives.ts';
import { signWithSession } from './web/session-cookie.ts';
import { createRequestTurns, type RequestTurnsOptions } from './request-turns.ts';

export interface HttpServerOptions extends RequestTurnsOptions {
  app: App;
  /** Absent on nodes that serve no endpoints. */
  ingest?: IngestHandler;
  host: string;
  /** 0: any free port. */
  port: number;
  /**
   * Domain of host-style endpoints, `<key>.<endpointDomain>`; its port is ignored. Default: only
   * `/e/<key>`.
   */
  endpointDomain?: string;
  /** Path prefix of this instance's URLs: `/hw/`. Default: `/`. */
  basePath?: string;
  /** Origins whose pages may call the API, as the app has them. Default: none. */
  corsOrigins?: readonly string[];
  /** The API key of a session of the web UI. Default: there are no sessions. */
  sessionKey?: (token: string) => string | undefined;
  /** Timeouts and connection limits of clients. Default: those of LIMITS. */
  patience?: Partial<ClientPatience>;
}

interface ClientPatience {
  headersTimeoutMs: number;
  /** At least headersTimeoutMs. */
  requestTimeoutMs: number;
  /** How often the two are looked at. */
  checkMs: number;
  maxConnections: number;
  clientStallMs: number;
  /** At least what `keep-alive: timeout` tells clients. */
  closingIdleMs: number;
}

export interface HttpServer {
  port: number;
  /**
   * Stops accepting, lets requests finish that were sent over connections which are there, for at
   * most `graceMs` (default LIMITS.shutdownMs), then closes these. `isReplaced`: another process
   * accepts what waits at the socket. Idempotent.
   */
  stop(graceMs?: number, isReplaced?: boolean): Promise<void>;
}

const PATIENCE: ClientPatience = {
  headersTimeoutMs: LIMITS.headersTimeoutMs,
  requestTimeoutMs: LIMITS.requestTimeoutMs,
  checkMs: 5_000,
  maxConnections: LIMITS.maxClientConnections,
  clientStallMs: LIMITS.clientStallMs,
  closingIdleMs: LIMITS.closingIdleMs,
};
const IDLE_CHECK_MS = 25;

/** Answer that the client expects before it sends the body, from its `expect` header. */
type Expected = 'nothing' | 'continue' | 'something';

const NO_URL = 'The host header and the target of the request are not those of a URL';
const PROBLEM_HEADERS = { 'content-type': PROBLEM_CONTENT_TYPE };

/** Rejects where the address cannot be listened on. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const patience = { ...PATIENCE, ...options.patience };
  const server = createServer({
    maxHeaderSize: LIMITS.maxHeaderBytes,
    headersTimeout: patience.headersTimeoutMs,
    requestTimeout: patience.requestTimeoutMs,
    // A client cannot know that its idle connection is about to end, and a request that it sends
    // over it in that moment is lost. So clients are told less than the time that it is kept.
    keepAliveTimeout: LIMITS.keepAliveHintMs,
    keepAliveTimeoutBuffer: LIMITS.keepAliveMs - LIMITS.keepAliveHintMs,
    connectionsCheckingInterval: patience.checkMs,
    // Said below, in words: node's own answer has none.
    requireHostHeader: false,
  });
  const connections = trackConnections(server, patience.maxConnections);
  const gulps = boundReads(server);
  const early = createEarlyAnswers(options.corsOrigins);
  const route = requestRouter(options, early, patience);
  const onRequest = (expected: Expected) => (request: IncomingMessage, response: ServerResponse) => {
    connections.began(request.socket, response);
    gulps.began(request, response);
    route(request, response, expected);
  };
  server.on('request', onRequest('nothing'));
  server.on('checkContinue', onRequest('continue'));
  server.on('checkExpectation', onRequest('something'));
  server.on('clientError', early.clientError);
  await listen(server, options);
  let stopped: Promise<void> | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    stop(graceMs = LIMITS.shutdownMs, isReplaced = false) {
      const backlogMs = isReplaced ? 0 : graceMs * BACKLOG_SHARE;
      stopped ??= closeServer(server, connections, {
        graceMs,
        backlogMs,
        idleMs: patience.closingIdleMs,
        atStop: early.atStop,
      });
      return stopped;
    },
  };
}

function domainName({ endpointDomain }: HttpServerOptions): string | undefined {
  return endpointDomain?.toLowerCase().replace(/:\d+$/, '');
}

function requestRouter(options: HttpServerOptions, early: EarlyAnswers, { clientStallMs }: ClientPatience) {
  const domain = domainName(options);
  // Replacing the globals of the whole process for a faster Response is not worth it here.
  const answerWithApp = getRequestListener(options.app.fetch, {
    overrideGlobalObjects: false,
    // HTTP/1.0 knows no host, and simple probes still speak it.
    hostname: 'localhost',
    errorHandler: () => new Response(plainProblem(400, NO_URL), { status: 400, headers: PROBLEM_HEADERS }),
  });
  const findTurn = createRequestTurns(options);
  const { basePath = '/', sessionKey } = options;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (sessionKey !== undefined) signWithSession(request, sessionKey);
    try {
      await findTurn(request);
    } catch (error) {
      if (error instanceof HeadwaterError) return early.refuse(response, error);
      throw error;
    }
    if (!response.destroyed) await answerWithApp(request, response);
  };
  const queued = new WeakMap<Socket, number>();
  const serve = (request: IncomingMessage, response: ServerResponse, expected: Expected) => {
    if (expected === 'something')
      return early.problem(response, 417, 'The only expectation that is met here is 100-continue');
    const address = options.ingest === undefined ? undefined : endpointAddress(request, domain);
    const longHost = address === undefined ? longHostOfRequest(request) : undefined;
    if (longHost !== undefined) return early.problem(response, 400, LONG_HOST, longHost);
    if (expected === 'continue') {
      const tooLarge = unsentBodyError(request, options);
      if (tooLarge !== undefined) return early.refuse(response, tooLarge);
      response.writeContinue();
    }
    if (address === undefined) {
      boundUnreadBody(request, response);
      void answer(request, response);
    } else options.ingest?.(request, response, address);
  };
  return (request: IncomingMessage, response: ServerResponse, expected: Expected) => {
    if (cutPipeline(queued, request, response)) return;
    stripBasePath(request, basePath);
    cutOffStalled(response, clientStallMs);
    if (request.headers.host === undefined && request.httpVersion !== '1.0')
      return early.problem(response, 400, 'The host header is missing');
    if (response.socket !== null) return serve(request, response, expected);
    // A pipelined request starts when its answer can be written, and in a turn of its own so that
    // other connections get the thread.
    response.once('socket', () => setImmediate(serve, request, response, expected));
  };
}

/**
 * A client that reads nothing would keep its answer in memory, and its connection, for as long as
 * it likes.
 */
function cutOffStalled(response: ServerResponse, clientStallMs: number): void {
  // All of it was written, as far as the system took it.
  response.once('prefinish', () => {
    const { socket } = response;
    if (socket === null || socket.writableLength === 0) return;
    socket.setTimeout(clientStallMs);
    // Before node's own listener, which sets the timeout of idle connections.
    response.prependOnceListener('finish', () => socket.setTimeout(0));
  });
}

/**
 * Ends a connection with too many pipelined requests. Node emits all requests of one read in one
 * turn, which blocks all other connections. True if no answer is needed any more.
 */
function cutPipeline(queued: WeakMap<Socket, number>, request: IncomingMessage, response: ServerResponse): boolean {
  const { socket } = request;
  if (socket.destroyed) return true;
  // A response gets its socket when it is its turn, which is at once for clients that do not
  // pipeline.
  if (response.socket !== null) return false;
  const waiting = (queued.get(socket) ?? 0) + 1;
  if (waiting > LIMITS.maxPipelinedRequests) {
    ignoreRest(socket);
    socket.destroy();
    return true;
  }
  queued.set(socket, waiting);
  response.once('socket', () => queued.set(socket, (queued.get(socket) ?? 1) - 1));
  return false;
}

/**
 * One read holds up to two thousand requests, and Node still emits them after the connection is
 * closed. That blocks the thread for 30 ms (2 ms with this function). The hook is internal to Node:
 * if it disappears, only this time is lost.
 */
function ignoreRest(socket: Socket): void {
  const { parser } = socket as { parser?: { onIncoming?: () => number } };
  // 2: there is no body to wait for.
  if (parser?.onIncoming !== undefined) parser.onIncoming = () => 2;
}

/** Cuts off the rest of a refused request. Otherwise node would read and drop it without end. */
function boundUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  // Before node's own listener, which drops what arrives before anyone could count it; read(0)
  // tells it that we read.
  response.prependListener('finish', () => {
    if (request.complete) return;
    let bytesLeft: number = LIMITS.maxDrainBytes;
    request.on('data', (chunk: Buffer) => {
      bytesLeft -= chunk.length;
      if (bytesLeft < 0) request.socket.destroySoon();
    });
    request.read(0);
  });
}

/**
 * A client that asks first is told before it sends a body that is too large. Nothing follows, so
 * the connection ends.
 */
function unsentBodyError(request: IncomingMessage, options: HttpServerOptions): HeadwaterError | undefined {
  const toEndpoint = endpointAddress(request, domainName(options)) !== undefined;
  const maxApiBytes = isImport(request) ? LIMITS.maxArchiveBytes : LIMITS.maxApiBodyBytes;
  const maxBytes = toEndpoint ? LIMITS.maxHttpBodyBytes : maxApiBytes;
  const announced = Number(request.headers['content-length'] ?? 0);
  return announced <= maxBytes ? undefined : bodyTooLarge(maxBytes, announced);
}

/** The one request that is streamed to a file. */
function isImport({ method, url }: IncomingMessage): boolean {
  return method === 'POST' && url?.split('?', 1)[0] === IMPORT_PATH;
}

/**
 * Connections that the system makes before the node takes them: those of half a minute that it
 * stands still. The system has a bound of its own, on Linux `net.core.somaxconn`.
 */
const MAX_UNACCEPTED = 4_096;

function listen(server: Server, { host, port }: HttpServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: MAX_UNACCEPTED }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * A share of the time that a stop has. New connections keep coming while clients do not know of it,
 * and the rest is for answers.
 */
const BACKLOG_SHARE = 2 / 3;

/** Looks of a busy node in a row that find no connection. */
const MAX_EMPTY_LOOKS = 20;

/**
 * The system has made connections that were not accepted yet: it resets those that are left when
 * the socket is closed. A turn of the event loop accepts one, so that hundreds of a node that had
 * stood still take seconds on a busy machine.
 */
async function acceptBacklog(server: Server, maxMs: number): Promise<void> {
  let accepted = 0;
  const count = () => accepted++;
  server.on('connection', count);
  const endsAtMs = performance.now() + maxMs;
  for (let looks = 0; looks < MAX_EMPTY_LOOKS && performance.now() < endsAtMs; ) {
    const before = accepted;
    await nextTurn();
    const { isQuiet } = await lookAtSockets();
    if (accepted !== before) looks = 0;
    // After a look that took long, more may have come.
    else looks = isQuiet() ? MAX_EMPTY_LOOKS : looks + 1;
  }
  server.off('connection', count);
}

/** Between the last answers and the end of their connections: they are with the system by then. */
const LAST_WRITES_MS = 50;

/** So soon after a look at the sockets next to nothing has come. */
const QUIET_MS = 0.5;
/** A busy node may have none: then connections end in any turn. */
const MAX_WAIT_FOR_QUIET_MS = 5_000;

/**
 * Ends idle connections until the server is closed. A request that arrives between the check of the
 * sockets and the end of its connection is reset. So each connection ends almost no time
 * after that check, also where the system stops this thread for a while in between.
 */
async function endIdleUntil(closed: Promise<void>, connections: ClientConnections, idleMs: number): Promise<void> {
  const patientUntilMs = performance.now() + MAX_WAIT_FOR_QUIET_MS;
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  while (!isClosed) {
    const { isQuiet } = await lookAtSockets();
    const mayEnd = () => isQuiet() || performance.now() > patientUntilMs;
    if (!mayEnd()) continue;
    const hasEndedAll = connections.endIdle(idleMs, LIMITS.closingFreshMs, mayEnd);
    if (hasEndedAll) await Promise.race([closed, sleep(IDLE_CHECK_MS)]);
  }
}

/** Resolves after the event loop has read its sockets. `isQuiet`: that was next to no time ago. */
async function lookAtSockets(): Promise<{ isQuiet(): boolean }> {
  const beganMs = performance.now();
  await nextTurn();
  return { isQuiet: () => performance.now() - beganMs < QUIET_MS };
}

interface Closing extends Pick<EarlyAnswers, 'atStop'> {
  graceMs: number;
  backlogMs: number;
  idleMs: number;
}

async function closeServer(
  server: Server,
  connections: ClientConnections,
  { graceMs, backlogMs, idleMs, atStop }: Closing,
): Promise<void> {
  await acceptBacklog(server, backlogMs);
  // Not its own close(), for which a connection is idle once an answer was written, though most of
  // it may not have been sent yet.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  // Not before: its client would connect anew.
  connections.closeAfterAnswers();
  const sweep = endIdleUntil(closed, connections, idleMs);
  const force = setTimeout(() => {
    connections.endUnanswered(atStop);
    setTimeout(() => server.closeAllConnections(), LAST_WRITES_MS);
  }, graceMs);
  await closed;
  await sweep;
  clearTimeout(force);
  // Ends its look at connections for those that are slow.
  server.close();
}
