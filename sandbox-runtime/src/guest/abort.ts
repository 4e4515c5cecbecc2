import { defineHandler, GuestEvent, GuestEventTarget } from './event-target.ts';
import { codedError, invalidArgument, nativeError, outOfRange } from './node/errors.ts';
import { asInterface } from './web-idl.ts';

const MAKE = Symbol('make');
const MAX_DELAY_MS = 2 ** 32 - 1;

let abortSignal: (signal: GuestAbortSignal, reason: unknown) => void;
let dependOn: (signal: GuestAbortSignal, sources: Iterable<GuestAbortSignal>) => void;
let addAlgorithm: (signal: GuestAbortSignal, algorithm: (reason: unknown) => void) => () => void;

/** `AbortSignal` of the DOM standard. */
export class GuestAbortSignal extends GuestEventTarget {
  declare onabort: ((event: GuestEvent) => unknown) | null;
  #aborted = false;
  #reason: unknown;
  /**
   * Signals that this one was made of; each is aborted by a controller or a clock, never by another
   * signal.
   */
  readonly #sources = new Set<GuestAbortSignal>();
  readonly #dependents = new Set<GuestAbortSignal>();
  readonly #algorithms = new Set<(reason: unknown) => void>();

  constructor(token?: unknown) {
    super();
    if (token !== MAKE) throw codedError('ERR_ILLEGAL_CONSTRUCTOR', 'Illegal constructor', TypeError);
  }

  static {
    abortSignal = (signal, reason) => {
      if (signal.#aborted) return;
      const given = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
      const followers = [...signal.#dependents].filter((follower) => !follower.#aborted);
      // All of them are aborted before any listener runs.
      for (const aborted of [signal, ...followers]) aborted.#set(given);
      for (const aborted of [signal, ...followers]) aborted.#tell();
    };
    dependOn = (signal, sources) => {
      for (const source of sources) {
        for (const root of source.#sources.size === 0 ? [source] : source.#sources) {
          signal.#sources.add(root);
          root.#dependents.add(signal);
        }
      }
    };
    addAlgorithm = (signal, algorithm) => {
      signal.#algorithms.add(algorithm);
      return () => void signal.#algorithms.delete(algorithm);
    };
  }

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  static abort(reason?: unknown): GuestAbortSignal {
    const signal = makeSignal();
    abortSignal(signal, reason);
    return signal;
  }

  static timeout(delayMs: number): GuestAbortSignal {
    if (typeof delayMs !== 'number') throw invalidArgument('delay', 'of type number', delayMs);
    if (!Number.isInteger(delayMs)) throw outOfRange('delay', 'an integer', delayMs);
    if (!(delayMs >= 0 && delayMs <= MAX_DELAY_MS)) throw outOfRange('delay', `>= 0 && <= ${MAX_DELAY_MS}`, delayMs);
    const signal = makeSignal();
    const expire = (): void =>
      abortSignal(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
    // As in Node: nothing waits for a request to become late that has ended.
    setTimeout(expire, delayMs).unref();
    return signal;
  }

  static any(signals: Iterable<GuestAbortSignal>): GuestAbortSignal {
    const isList = typeof signals === 'object' && signals !== null && typeof signals[Symbol.iterator] === 'function';
    if (!isList) throw nativeError('ERR_INVALID_ARG_TYPE', 'signals cannot be converted to sequence.');
    const sources = [...signals];
    for (const [index, source] of sources.entries())
      if (!(source instanceof GuestAbortSignal))
        throw nativeError('ERR_INVALID_ARG_TYPE', `signals[${index}] is not of type AbortSignal.`);
    const combined = makeSignal();
    const aborted = sources.find((source) => source.#aborted);
    if (aborted === undefined) dependOn(combined, sources);
    else combined.#set(aborted.#reason);
    return combined;
  }

  #set(reason: unknown): void {
    this.#aborted = true;
    this.#reason = reason;
  }

  #tell(): void {
    for (const algorithm of this.#algorithms) algorithm(this.#reason);
    this.#algorithms.clear();
    this.dispatchEvent(new GuestEvent('abort'));
  }
}
defineHandler(GuestAbortSignal, 'abort');
asInterface(GuestAbortSignal, 'AbortSignal');

export class GuestAbortController {
  readonly #signal = makeSignal();

  get signal(): GuestAbortSignal {
    return this.#signal;
  }

  abort(reason?: unknown): void {
    abortSignal(this.#signal, reason);
  }
}
asInterface(GuestAbortController, 'AbortController');

function makeSignal(): GuestAbortSignal {
  return new GuestAbortSignal(MAKE);
}

/** A signal of its own that is aborted with the other one. */
export function followSignal(source: GuestAbortSignal | undefined): GuestAbortSignal {
  return GuestAbortSignal.any(source === undefined ? [] : [source]);
}

/**
 * Runs before the listeners of the signal; the result takes it back. The signal must not be aborted
 * yet.
 */
export function onAbort(signal: GuestAbortSignal, algorithm: (reason: unknown) => void): () => void {
  return addAlgorithm(signal, algorithm);
}
