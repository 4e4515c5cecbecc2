import type { Dispatcher } from 'undici';
import { createGiveWay, type ExceededLimit, KeptBytes, LIMITS } from '@headwater/shared';
import { type ExchangeMoments, exchangeTimes, type ExchangeTimes } from './exchange-times.ts';
import { OverRunLimit, TooMuchFraming } from './refusal.ts';
import type { Connection } from './tenant-connections.ts';

export interface ExchangeRequest {
  origin: string;
  /** Path and query. */
  path: string;
  method: string;
  /** Name, value, name, value … */
  headers: string[];
  body?: Uint8Array;
  /** From here to the last byte of the response, connecting included. */
  timeoutMs: number;
  /** Response bytes that are kept. */
  maxKeptBytes: number;
  /**
   * Told of each piece of the body before anything is made of it. The limit that it answers ends
   * the exchange.
   */
  onBody?: (bytes: number) => ExceededLimit | undefined;
  /**
   * Handling of a body beyond maxKeptBytes.
   * - `fail` fails the exchange. Reading pauses for `waitMs(count)` after `count` bytes.
   * - `cut` reads and discards up to `maxDrainedBytes` more so that the connection can be reused,
   *   and then closes it. After the status, no failure undoes the response.
   *
   * A piece of the body counts for `onBytes` and `maxDrainedBytes` as at least
   * LIMITS.minPieceBytes: reading it costs as much. `waitMs` also counts the bytes around the
   * body.
   */
  overflow:
    | { kind: 'fail'; onBytes?: (count: number) => boolean; waitMs?: (count: number) => number }
    | { kind: 'cut'; maxDrainedBytes: number };
}

export type ExchangeOutcome =
  | { kind: 'response'; status: number; statusText: string; rawHeaders: readonly (Buffer | string)[]; body: Buffer }
  | { kind: 'timeout' }
  /** More than maxKeptBytes; `seenBytes`: as far as it was read. */
  | { kind: 'too-large'; seenBytes: number }
  /** `onBytes` said no. */
  | { kind: 'over-budget' }
  | { kind: 'aborted' }
  /**
   * `isUnanswered`: its connection had served another request, and ended before a byte of an
   * answer. Most probably the server closed it while it was idle, and has not seen the request.
   *
   * TooMuchFraming where what came besides the body is over LIMITS.maxFetchFramingBytes,
   * OverRunLimit where `onBody` answered a limit.
   */
  | { kind: 'error'; error: unknown; isUnanswered?: true };

export interface Exchange {
  done: Promise<ExchangeOutcome>;
  /** Ends it as `aborted`, closing its connection. */
  abort(): void;
  /** As far as it has come; asked once it is done. */
  times(): ExchangeTimes;
}

const TOO_MANY_INTERIM = Object.assign(new Error('Too many interim responses'), { code: 'EGRESS_INTERIM_RESPONSES' });
const SWITCHED = Object.assign(new Error('An upgrade that nothing asked for'), { code: 'EGRESS_UPGRADE' });
const STOPPED = new Error('The exchange was ended from this side');

const SWITCHING_PROTOCOLS = 101;

/** Errors of a connection that the server has closed. */
const CLOSED = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/**
 * Responses before the response (103 and the like): a server may send a few, and one that goes on
 * is ended.
 */
const MAX_INTERIM_RESPONSES = 16;

/**
 * Pieces of a body handled before other work gets the thread. One read may contain ten thousand
 * pieces of one byte each.
 */
const MAX_PIECES_PER_TURN = 256;
const giveWay = createGiveWay(0);

/**
 * Sends one request on undici's lowest interface: twice as fast as its `request`, and no stream to
 * forget about. Releases the connection before `done` resolves. Never throws.
 */
export function startExchange(connection: Connection, request: ExchangeRequest): Exchange {
  const handler = new ExchangeHandler(request, connection.isUsed);
  connection.onRead = (bytes) => handler.onRead(bytes);
  const { origin, path, method, headers, body = null } = request;
  try {
    connection.client.dispatch({ origin, path, method, headers, body }, handler);
  } catch (error) {
    handler.end({ kind: 'error', error });
  }
  const done = handler.done.then((outcome) => {
    connection.onRead = undefined;
    connection.release(handler.isComplete);
    return outcome;
  });
  return {
    done,
    abort: () => handler.end({ kind: 'aborted' }),
    times: () => exchangeTimes(connection.times, origin.startsWith('https:'), handler.moments),
  };
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly done: Promise<ExchangeOutcome>;
  /** The response was read to its end, and nothing was broken off. */
  isComplete = false;
  readonly moments: ExchangeMoments = { dispatchedMs: performance.now() };
  readonly #request: ExchangeRequest;
  readonly #isUsed: boolean;
  readonly #resolve: (outcome: ExchangeOutcome) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #isSettled = false;
  #status = 0;
  #statusText = '';
  readonly #kept = new KeptBytes();
  #seenBytes = 0;
  /** As `#seenBytes`, but each piece counts at least as much as it costs to read. */
  #countedBytes = 0;
  /** All bytes read: the body, headers, chunk lengths and other framing. */
  #readBytes = 0;
  #pacedBytes = 0;
  #pieces = 0;
  #interimResponses = 0;

  constructor(request: ExchangeRequest, isUsed: boolean) {
    const { promise, resolve } = Promise.withResolvers<ExchangeOutcome>();
    this.#request = request;
    this.#isUsed = isUsed;
    this.done = promise;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.end({ kind: 'timeout' }), request.timeoutMs);
  }

  /** Settles with `outcome` and closes the connection. */
  end(outcome: ExchangeOutcome): void {
    this.#settle(outcome);
    this.#controller?.abort(STOPPED);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.moments.requestedMs = performance.now();
    // Ended while its connection was made: not one byte of it may leave now.
    if (this.#isSettled) controller.abort(STOPPED);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, _headers: unknown, statusText?: string): void {
    if (status < 200) {
      this.#interimResponses++;
      if (status === SWITCHING_PROTOCOLS) this.end({ kind: 'error', error: SWITCHED });
      if (this.#interimResponses > MAX_INTERIM_RESPONSES) this.end({ kind: 'error', error: TOO_MANY_INTERIM });
      return;
    }
    this.#status = status;
    this.#statusText = statusText ?? '';
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxKeptBytes, onBody, overflow } = this.#request;
    const limit = onBody?.(chunk.length);
    if (limit !== undefined) return this.end({ kind: 'error', error: new OverRunLimit(limit) });
    const counted = Math.max(chunk.length, LIMITS.minPieceBytes);
    this.#seenBytes += chunk.length;
    this.#countedBytes += counted;
    const room = maxKeptBytes - this.#kept.length;
    if (chunk.length > room && overflow.kind === 'fail')
      return this.end({ kind: 'too-large', seenBytes: this.#seenBytes });
    if (overflow.kind === 'fail' && overflow.onBytes?.(counted) === false) return this.end({ kind: 'over-budget' });
    if (room > 0) this.#kept.add(chunk.subarray(0, room));
    this.#rest(controller);
    if (overflow.kind === 'cut' && this.#countedBytes > maxKeptBytes + overflow.maxDrainedBytes)
      this.end(this.#response());
  }

  /**
   * Counts bytes read from the connection, including the body. This is the only way to bound the
   * bytes around the body. They may not be parsed yet.
   */
  onRead(bytes: number): void {
    this.moments.firstByteMs ??= performance.now();
    this.#readBytes += bytes;
    const used = this.#readBytes - this.#seenBytes - this.#countedBytes;
    if (used > LIMITS.maxFetchFramingBytes) this.end({ kind: 'error', error: new TooMuchFraming(used) });
  }

  onResponseEnd(): void {
    this.isComplete = !this.#isSettled;
    this.#settle(this.#response());
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    const isUnanswered =
      this.#isUsed && this.#status === 0 && this.#interimResponses === 0 && CLOSED.has(codeOf(error));
    this.#settle({ kind: 'error', error, ...(isUnanswered ? { isUnanswered } : {}) });
  }

  #rest(controller: Dispatcher.DispatchController): void {
    this.#pieces++;
    const waitMs = this.#paceMs();
    if (waitMs === 0 && this.#pieces % MAX_PIECES_PER_TURN !== 0) return;
    controller.pause();
    const goOn = () => controller.resume();
    if (waitMs > 0) setTimeout(goOn, waitMs).unref();
    else void giveWay().then(goOn);
  }

  #paceMs(): number {
    const { overflow } = this.#request;
    const bytes = Math.max(this.#countedBytes, this.#readBytes) - this.#pacedBytes;
    if (overflow.kind !== 'fail' || overflow.waitMs === undefined || bytes <= 0) return 0;
    this.#pacedBytes += bytes;
    return overflow.waitMs(bytes);
  }

  #response(): ExchangeOutcome {
    const rawHeaders = (this.#controller?.rawHeaders ?? []) as (Buffer | string)[];
    const body = this.#kept.join();
    return { kind: 'response', status: this.#status, statusText: this.#statusText, rawHeaders, body };
  }

  #settle(outcome: ExchangeOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.moments.endedMs = performance.now();
    clearTimeout(this.#timer);
    // Bytes that were read count for pacing even without a body.
    this.#paceMs();
    const isFinal = this.#request.overflow.kind === 'cut' && this.#status >= 200;
    this.#resolve(isFinal ? this.#response() : outcome);
  }
}

function codeOf(error: Error): string {
  return String((error as NodeJS.ErrnoException).code);
}
