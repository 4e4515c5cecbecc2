import { isIP, type LookupFunction, type Socket } from 'node:net';
import type { buildConnector as BuildConnector } from 'undici';
import { checkDenied, checkedAddresses, checkLiteral, checkPort, type Guard, resolveChecked } from './guard.ts';
import { parseAddress } from './address.ts';
import type { ClientTls } from './client-tls.ts';
import { type ConnectTimes, watchConnecting } from './connect-times.ts';
import { type EgressProxy, openTunnel } from './proxy.ts';
import type { EgressRefused } from './refusal.ts';
import { buildConnector, HeadersOverflowError } from './undici.ts';

/**
 * Opens the connection that undici asks for, after the guard has agreed. The returned function
 * cancels: it closes a socket that is still connecting, and then the callback may never be called.
 */
export type Connector = (
  target: BuildConnector.Options,
  callback: BuildConnector.Callback,
  how?: Connecting,
) => () => void;

interface Connecting {
  /** The known ones are set. */
  times: ConnectTimes;
  /** Default: the server has a certificate of a public authority, and the client has none. */
  tls?: ClientTls | undefined;
}

/**
 * The function that buildConnector makes returns its socket, which its type omits. Tests check
 * that.
 */
type Opener = (target: BuildConnector.Options, callback: BuildConnector.Callback) => Socket;

/**
 * Node's own 250 ms is less than a round trip across the world takes on a slow line: a healthy
 * address would be given up.
 */
const FAMILY_ATTEMPT_MS = 500;

const GULP_BYTES = 4 * 1024;

/**
 * One opener a port and way of TLS, since `lookup` is not told the port. Beyond this many they
 * start anew; only TLS sessions are lost.
 */
const MAX_OPENERS = 64;

/** Each connector has TLS sessions of its own. */
export function createConnector(guard: Guard, timeoutMs: number, proxy?: EgressProxy): Connector {
  const open = proxy === undefined ? openDirectly(guard, timeoutMs) : openByProxy(guard, timeoutMs, proxy);
  return (target, answer, how) => {
    const callback = ((error: Error | null, socket: Socket | null) => {
      if (error !== null || socket === null) return answer(error ?? new Error('No socket'), null);
      if (how !== undefined) how.times.readyMs = performance.now();
      endParserAtOverflow(socket);
      takeOddAnswers(socket);
      readInGulps(socket);
      readBeforeReset(socket);
      answer(null, socket);
    }) as BuildConnector.Callback;
    try {
      checkPort(target.hostname, portOf(target));
      checkLiteral(guard, target.hostname);
    } catch (error) {
      callback(error as EgressRefused, null);
      return () => undefined;
    }
    return open(target, callback, how);
  };
}

/**
 * When a response exceeds the header limit, undici's parser destroys the socket with a new error.
 * It repeats that for every further header already read. With thousands of headers that blocked the
 * node's thread for 80 to 160 ms. Here the parser stops at the first.
 */
function endParserAtOverflow(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    // The parser treats every result but 0 as an error.
    if (error instanceof HeadersOverflowError)
      Object.assign(parserOf(socket) ?? {}, { onHeaderField: () => -1, onHeaderValue: () => -1 });
    return destroy(error);
  };
}

/** Any interim response that undici's parser passes on (RFC 2518). */
const PROCESSING = 102;
const CONTINUE = 100;
const SWITCHING_PROTOCOLS = 101;

/**
 * Answers that other clients take, and undici's parser does not:
 *
 * - an unrequested `100 Continue`, which RFC 9110 (15.2) allows, and a `101` with a header that
 *   names a protocol: both are treated like other interim responses;
 * - lines that end in LF alone, headers that go on in a folded line, and a length beside a chunked
 *   body: the parser's own lenient ways are switched on.
 *
 * A request and its answer have their connection to themselves, so none of it can shift the border
 * between two answers.
 */
function takeOddAnswers(socket: Socket): void {
  // The parser is made after the socket, and before it reads.
  socket.prependOnceListener('readable', () => {
    const parser = parserOf(socket);
    if (parser === undefined) return;
    for (const way of LENIENT_WAYS) parser.llhttp[`llhttp_set_lenient_${way}`]?.(parser.ptr, 1);
    tellSecondLength(parser);
    const onHeadersComplete = parser.onHeadersComplete.bind(parser);
    parser.onHeadersComplete = (status, upgrade, shouldKeepAlive) => {
      // A length beside a chunked body says nothing (RFC 9112, 6.3).
      if (parser.hasTransferEncoding) parser.contentLength = NO_LENGTH;
      withoutNul(parser);
      return onHeadersComplete(
        status === CONTINUE ? PROCESSING : status,
        upgrade && status !== SWITCHING_PROTOCOLS,
        shouldKeepAlive,
      );
    };
  });
}

const LENIENT_WAYS = ['headers', 'chunked_length', 'optional_cr_before_lf', 'spaces_after_chunk_size'];

/** llhttp's numbers of UNEXPECTED_CONTENT_LENGTH and INVALID_CONTENT_LENGTH. */
const LENGTH_ERRORS = [4, 11];

/** Without this undici reports a second Content-Length as a body of the wrong length. */
function tellSecondLength(parser: Parser): void {
  const createError = parser.createError.bind(parser);
  parser.createError = (code, data) => {
    if (LENGTH_ERRORS.includes(code)) parser.contentLength = NO_LENGTH;
    return createError(code, data);
  };
}

const SPACE = 0x20;

/** With folded lines the parser also takes NUL, which is replaced (RFC 9110, 5.5). */
function withoutNul({ headers }: Parser): void {
  for (let at = 1; at < headers.length; at += 2) {
    const value = headers[at] as Buffer;
    for (let nul = value.indexOf(0); nul !== -1; nul = value.indexOf(0, nul)) value[nul] = SPACE;
  }
}

/** undici's, of an answer that names no length. */
const NO_LENGTH = -1;

interface Parser {
  paused: boolean;
  ptr: number;
  llhttp: Record<string, ((ptr: number, on: number) => void) | undefined>;
  hasTransferEncoding: boolean;
  contentLength: number;
  /** Names and values in turn. */
  headers: Buffer[];
  resume(): void;
  createError(code: number, data: Buffer): Error;
  onHeadersComplete(status: number, upgrade: boolean, shouldKeepAlive: boolean): number;
}

/** undici's, of a socket that it has. */
function parserOf(socket: Socket): Parser | undefined {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'parser');
  return key === undefined ? undefined : (socket as unknown as Record<symbol, ReturnType<typeof parserOf>>)[key];
}

/**
 * undici takes all buffered bytes of a socket as one piece. When it pauses within that piece, it
 * puts back the rest. So each pause of a body in one-byte chunks joined and copied 100 KB again.
 * This limits a read to an amount that is cheap to copy.
 */
function readInGulps(socket: Socket): void {
  const read = socket.read.bind(socket) as (size?: number) => unknown;
  socket.read = (size) => read(size ?? (socket.readableLength > GULP_BYTES ? GULP_BYTES : undefined));
}

/** A fraction of this is enough for a full socket buffer, unless it came in thousands of pieces. */
const MAX_LAST_MS = 5;

/**
 * A response that has arrived completely is valid even if its connection is reset while it is read.
 * undici takes nothing more from a destroyed socket, so this first reads the bytes that a pause
 * left there. A body in thousands of pieces is not read to its end: that would block other tenants.
 */
function readBeforeReset(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    const parser = (error as NodeJS.ErrnoException | undefined)?.code === 'ECONNRESET' ? parserOf(socket) : undefined;
    const untilMs = performance.now() + MAX_LAST_MS;
    while (parser?.paused && socket.readableLength > 0 && !socket.destroyed && performance.now() < untilMs)
      parser.resume();
    return destroy(error);
  };
}

export function portOf(target: { protocol: string; port: string }): number {
  if (target.port !== '') return Number(target.port);
  return target.protocol === 'https:' ? 443 : 80;
}

function openDirectly(guard: Guard, timeoutMs: number): Connector {
  const openers = new Map<string, Opener>();
  function openerFor(port: number, tls: ClientTls | undefined): Opener {
    const key = `${port} ${tls?.id ?? ''}`;
    const known = openers.get(key);
    if (known !== undefined) return known;
    if (openers.size >= MAX_OPENERS) openers.clear();
    const made = buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      lookup: createLookup(guard, port),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: FAMILY_ATTEMPT_MS,
      ...contextOf(tls),
    }) as unknown as Opener;
    openers.set(key, made);
    return made;
  }
  return (target, callback, how) => {
    const port = portOf(target);
    let socket: Socket | undefined;
    let isGivenUp = false;
    // net.connect asks `lookup` about names only; a literal address is checked here or nowhere.
    const literal = isIP(target.hostname) === 0 ? undefined : parseAddress(target.hostname);
    checkDenied(guard, target.hostname, port, literal ? [literal] : [], (refused) => {
      if (refused) return callback(refused, null);
      if (isGivenUp) return;
      socket = openerFor(port, how?.tls)(target, callback);
      if (how !== undefined) watchConnecting(socket, how.times);
    });
    return () => {
      isGivenUp = true;
      socket?.destroy();
    };
  };
}

function contextOf(tls: ClientTls | undefined) {
  return tls === undefined ? {} : { secureContext: tls.context };
}

/**
 * http goes through a tunnel as well: a proxy that reads requests would look the name up itself.
 */
function openByProxy(guard: Guard, timeoutMs: number, proxy: EgressProxy): Connector {
  const secureBy = (tls: ClientTls | undefined) =>
    buildConnector({ timeout: timeoutMs, allowH2: false, ...contextOf(tls) }) as unknown as Opener;
  const secure = secureBy(undefined);
  return (target, callback, how) => {
    const { hostname } = target;
    const port = portOf(target);
    let giveUp = () => undefined as void;
    let isGivenUp = false;
    checkedAddresses(guard, hostname, port, (refused, addresses) => {
      if (isGivenUp) return;
      if (refused) return callback(refused, null);
      if (how !== undefined && isIP(hostname) === 0) how.times.lookedUpMs = performance.now();
      giveUp = openTunnel(proxy, { hostname, addresses, port, timeoutMs }, (failed, socket) => {
        if (isGivenUp) return void socket?.destroy();
        if (failed !== null || socket === null) return callback(failed ?? new Error('No socket'), null);
        giveUp = () => void socket.destroy();
        if (how !== undefined) how.times.connectedMs = performance.now();
        if (target.protocol === 'https:') {
          const opener = how?.tls === undefined ? secure : secureBy(how.tls);
          opener({ ...target, httpSocket: socket }, callback);
        } else callback(null, socket);
      });
    });
    return () => {
      isGivenUp = true;
      giveUp();
    };
  };
}

function createLookup(guard: Guard, port: number): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(guard, hostname, port, (error, found) => {
      const [first] = found;
      if (error !== null || first === undefined) callback(error, '', 0);
      else if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}
