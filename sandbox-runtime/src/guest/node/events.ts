import { EventEmitter } from 'events/';
import { AbortError, codedError, invalidArgument, outOfRange, requireFunction } from './errors.ts';
import { giveNames } from './give-names.ts';
import { inspect } from './inspect.ts';

type Listener = (...args: unknown[]) => void;
type Emit = (this: EventEmitter, name: string | symbol, ...args: unknown[]) => boolean;

const errorMonitor = Symbol('events.errorMonitor');
const captureRejectionSymbol = Symbol.for('nodejs.rejection');

interface SignalOptions {
  signal?: AbortSignal;
}

/**
 * Completes the npm package in place, because streams extend the same class. Its EventEmitter is
 * that of Node 12.
 */
export function completeEvents(): typeof EventEmitter {
  const emit = EventEmitter.prototype.emit as Emit;
  EventEmitter.prototype.emit = function emitMonitored(this: EventEmitter, name: string | symbol, ...args: unknown[]) {
    if (name === 'error' && this.listenerCount(errorMonitor) > 0) emit.call(this, errorMonitor, ...args);
    const [error] = args;
    if (name === 'error' && !(error instanceof Error) && this.listenerCount('error') === 0)
      throw Object.assign(codedError('ERR_UNHANDLED_ERROR', `Unhandled error. (${inspect(error)})`), {
        context: error,
      });
    return emit.call(this, name, ...args);
  };
  checkArguments(EventEmitter.prototype as unknown as Record<string, AnyFunction>);
  giveNames('events', EventEmitter.prototype, ['emit']);
  const statics = {
    EventEmitter,
    errorMonitor,
    captureRejectionSymbol,
    captureRejections: false,
    usingDomains: false,
    once: onceOf,
    on: iterate,
    getEventListeners: (target: EventEmitter | object, name: string) => {
      requireEmitter(target, ' or EventTarget');
      return target instanceof EventEmitter ? target.listeners(name) : [];
    },
    getMaxListeners: (target: EventEmitter) => (target instanceof EventEmitter ? target.getMaxListeners() : 0),
    setMaxListeners: (count: number, ...targets: unknown[]) => {
      checkCount(count);
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

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/** The package has the same checks, but its errors have no codes. */
function checkArguments(methods: Record<string, AnyFunction>): void {
  // Some are one function under two names, and stay that.
  const made = new Map<AnyFunction, AnyFunction>();
  for (const name of LISTENED) {
    const original = methods[name] as AnyFunction;
    const checked = function (this: unknown, type: unknown, listener: unknown) {
      requireFunction('listener', listener);
      return original.call(this, type, listener);
    };
    Object.defineProperty(checked, 'name', { value: original.name });
    if (!made.has(original)) made.set(original, checked);
    methods[name] = made.get(original) as AnyFunction;
  }
  const { setMaxListeners } = methods as { setMaxListeners: AnyFunction };
  methods['setMaxListeners'] = function (this: unknown, count: unknown) {
    checkCount(count);
    return setMaxListeners.call(this, count);
  };
  giveNames('events', methods, ['setMaxListeners']);
}

const LISTENED = [
  'on',
  'addListener',
  'once',
  'prependListener',
  'prependOnceListener',
  'off',
  'removeListener',
] as const;

function checkCount(count: unknown): void {
  if (typeof count !== 'number') throw invalidArgument('setMaxListeners', 'of type number', count);
  if (!(count >= 0)) throw outOfRange('setMaxListeners', '>= 0', count);
}

function requireEmitter(target: unknown, others: string): void {
  if (!(target instanceof EventEmitter) && !(target instanceof EventTarget))
    throw invalidArgument('emitter', `an instance of EventEmitter${others}`, target);
}

function abortError(signal: AbortSignal): Error {
  return new AbortError(undefined, { cause: signal.reason });
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
    requireEmitter(target, '');
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
