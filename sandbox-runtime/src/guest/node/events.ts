import { EventEmitter } from 'events/';
import { codedError } from './errors.ts';
import { giveNames } from './give-names.ts';

type Listener = (...args: unknown[]) => void;
type Emit = (this: EventEmitter, name: string | symbol, ...args: unknown[]) => boolean;

const errorMonitor = Symbol('events.errorMonitor');
const captureRejectionSymbol = Symbol.for('nodejs.rejection');

interface SignalOptions {
  signal?: AbortSignal;
}

/** Completes the npm package, whose EventEmitter is that of Node 12, in place: streams are built on the same class. */
export function completeEvents(): typeof EventEmitter {
  const emit = EventEmitter.prototype.emit as Emit;
  EventEmitter.prototype.emit = function emitMonitored(this: EventEmitter, name: string | symbol, ...args: unknown[]) {
    if (name === 'error' && this.listenerCount(errorMonitor) > 0) emit.call(this, errorMonitor, ...args);
    return emit.call(this, name, ...args);
  };
  giveNames('events', EventEmitter.prototype, ['emit']);
  const statics = {
    EventEmitter,
    errorMonitor,
    captureRejectionSymbol,
    captureRejections: false,
    usingDomains: false,
    once: onceOf,
    on: iterate,
    getEventListeners: (target: EventEmitter | object, name: string) =>
      target instanceof EventEmitter ? target.listeners(name) : [],
    getMaxListeners: (target: EventEmitter) => (target instanceof EventEmitter ? target.getMaxListeners() : 0),
    setMaxListeners: (count: number, ...targets: unknown[]) => {
      for (const target of targets) if (target instanceof EventEmitter) target.setMaxListeners(count);
    },
    addAbortListener: (signal: AbortSignal, listener: () => void) => {
      if (signal.aborted) queueMicrotask(listener);
      else signal.addEventListener('abort', listener, { once: true });
      return { [Symbol.dispose]: () => signal.removeEventListener('abort', listener) };
    },
    EventEmitterAsyncResource: class EventEmitterAsyncResource extends EventEmitter {},
  };
  return Object.assign(EventEmitter, statics) as unknown as typeof EventEmitter;
}

function abortError(signal: AbortSignal): Error {
  const error = codedError('ABORT_ERR', 'The operation was aborted');
  error.name = 'AbortError';
  error.cause = signal.reason;
  return error;
}

type Target = EventEmitter | EventTarget;

function listen(target: Target, name: string, listener: Listener): () => void {
  if (target instanceof EventEmitter) {
    target.on(name, listener);
    return () => void target.removeListener(name, listener);
  }
  target.addEventListener(name, listener);
  return () => target.removeEventListener(name, listener);
}

function onceOf(target: Target, name: string, { signal }: SignalOptions = {}): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(abortError(signal));
    const stops: (() => void)[] = [];
    const settle = (finish: () => void): void => {
      for (const stop of stops) stop();
      finish();
    };
    stops.push(listen(target, name, (...args) => settle(() => resolve(args))));
    if (name !== 'error' && target instanceof EventEmitter)
      stops.push(listen(target, 'error', (error) => settle(() => reject(error as Error))));
    if (signal !== undefined) {
      const abort = (): void => settle(() => reject(abortError(signal)));
      signal.addEventListener('abort', abort, { once: true });
      stops.push(() => signal.removeEventListener('abort', abort));
    }
  });
}

/** Every event from now on, none lost between two steps of the loop. */
async function* iterate(target: Target, name: string, options: SignalOptions = {}): AsyncGenerator<unknown[]> {
  const waiting: unknown[][] = [];
  let failed: { error: unknown } | undefined;
  let wake = (): void => undefined;
  const fail = (error: unknown): void => {
    failed = { error };
    wake();
  };
  const stops = [
    listen(target, name, (...args) => {
      waiting.push(args);
      wake();
    }),
  ];
  if (target instanceof EventEmitter && name !== 'error') stops.push(listen(target, 'error', fail));
  const { signal } = options;
  const abort = (): void => fail(abortError(signal as AbortSignal));
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else if (failed !== undefined) throw failed.error;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  } finally {
    for (const stop of stops) stop();
    signal?.removeEventListener('abort', abort);
  }
}
