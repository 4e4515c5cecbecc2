import type { Dispatcher } from 'undici';

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
   * Beyond maxKeptBytes: `fail` fails the exchange; `cut` reads on and throws away up to `maxDrainedBytes` more, so that the
   * connection can be used again, and then closes it. With `cut` nothing that happens after the status undoes the response.
   */
  overflow: { kind: 'fail'; onBytes?: (count: number) => boolean } | { kind: 'cut'; maxDrainedBytes: number };
}

export type ExchangeOutcome =
  | { kind: 'response'; status: number; statusText: string; rawHeaders: readonly (Buffer | string)[]; body: Buffer }
  | { kind: 'timeout' }
  | { kind: 'too-large' }
  | { kind: 'aborted' }
  | { kind: 'error'; error: unknown };

export interface Exchange {
  done: Promise<ExchangeOutcome>;
  /** Ends it as `aborted`, closing its connection. */
  abort(): void;
}

const STOPPED = new Error('The exchange was ended from this side');

/** Sends one request on undici's lowest interface: twice as fast as its `request`, and no stream to forget about. */
export function startExchange(agent: Dispatcher, request: ExchangeRequest): Exchange {
  const handler = new ExchangeHandler(request);
  agent.dispatch(
    {
      origin: request.origin,
      path: request.path,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
    },
    handler,
  );
  return { done: handler.done, abort: () => handler.end({ kind: 'aborted' }) };
}

class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly done: Promise<ExchangeOutcome>;
  readonly #request: ExchangeRequest;
  readonly #resolve: (outcome: ExchangeOutcome) => void;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #isSettled = false;
  #status = 0;
  #statusText = '';
  #chunks: Buffer[] = [];
  #keptBytes = 0;
  #seenBytes = 0;

  constructor(request: ExchangeRequest) {
    const { promise, resolve } = Promise.withResolvers<ExchangeOutcome>();
    this.#request = request;
    this.done = promise;
    this.#resolve = resolve;
    this.#timer = setTimeout(() => this.end({ kind: 'timeout' }), request.timeoutMs);
  }

  /** Settles with what there is and closes the connection. A request that still waits for one is dropped when its turn comes. */
  end(outcome: ExchangeOutcome): void {
    this.#settle(outcome);
    this.#controller?.abort(STOPPED);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // Ended while it waited for a connection: not one byte of it may leave now.
    if (this.#isSettled) controller.abort(STOPPED);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, _headers: unknown, statusText?: string): void {
    this.#status = status;
    this.#statusText = statusText ?? '';
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const { maxKeptBytes, overflow } = this.#request;
    this.#seenBytes += chunk.length;
    const room = maxKeptBytes - this.#keptBytes;
    if (chunk.length > room && overflow.kind === 'fail') return this.end({ kind: 'too-large' });
    if (overflow.kind === 'fail' && overflow.onBytes?.(chunk.length) === false) return this.end({ kind: 'too-large' });
    if (room > 0) this.#keep(chunk.subarray(0, room));
    if (overflow.kind === 'cut' && this.#seenBytes > maxKeptBytes + overflow.maxDrainedBytes)
      this.end(this.#response());
  }

  onResponseEnd(): void {
    this.#settle(this.#response());
  }

  onResponseError(_: Dispatcher.DispatchController | null, error: Error): void {
    this.#settle({ kind: 'error', error });
  }

  #keep(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#keptBytes += chunk.length;
  }

  #response(): ExchangeOutcome {
    const rawHeaders = (this.#controller?.rawHeaders ?? []) as (Buffer | string)[];
    const body = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks);
    return { kind: 'response', status: this.#status, statusText: this.#statusText, rawHeaders, body };
  }

  #settle(outcome: ExchangeOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    const isFinal = this.#request.overflow.kind === 'cut' && this.#status >= 200;
    this.#resolve(isFinal ? this.#response() : outcome);
  }
}
