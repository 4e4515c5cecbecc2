import { GuestEvent, GuestEventTarget } from './event-target.ts';

const MAKE = Symbol('make');

export class GuestAbortSignal extends GuestEventTarget {
  aborted = false;
  reason: unknown;
  onabort: ((event: GuestEvent) => unknown) | null = null;

  constructor(token?: unknown) {
    super();
    if (token !== MAKE) throw new TypeError('Illegal constructor');
  }

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  static abort(reason?: unknown): GuestAbortSignal {
    const signal = makeSignal();
    abortSignal(signal, reason);
    return signal;
  }

  static timeout(delayMs: number): GuestAbortSignal {
    const signal = makeSignal();
    setTimeout(
      () => abortSignal(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
      delayMs,
    );
    return signal;
  }

  static any(signals: Iterable<GuestAbortSignal>): GuestAbortSignal {
    const combined = makeSignal();
    for (const signal of signals) {
      if (signal.aborted) {
        abortSignal(combined, signal.reason);
        break;
      }
      signal.addEventListener('abort', () => abortSignal(combined, signal.reason), { once: true });
    }
    return combined;
  }
}

export class GuestAbortController {
  readonly signal = makeSignal();

  abort(reason?: unknown): void {
    abortSignal(this.signal, reason);
  }
}

function makeSignal(): GuestAbortSignal {
  return new GuestAbortSignal(MAKE);
}

function abortSignal(signal: GuestAbortSignal, reason: unknown): void {
  if (signal.aborted) return;
  signal.aborted = true;
  signal.reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
  signal.dispatchEvent(new GuestEvent('abort'));
}
