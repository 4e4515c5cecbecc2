import { AbortError, invalidArgument } from './errors.ts';
import { giveNames } from './give-names.ts';

type Timers = Record<string, (...args: never[]) => unknown>;
interface WaitOptions {
  signal?: AbortSignal;
  ref?: boolean;
}

const PROMISIFY = Symbol.for('nodejs.util.promisify.custom');

/** `timers` and `timers/promises`; makes the globals work with `util.promisify` too. */
export function makeTimers(globals: Timers): Record<string, unknown> {
  const promises = makeTimersPromises();
  for (const name of ['setTimeout', 'setImmediate'] as const) {
    const timer = globals[name];
    if (timer !== undefined && !(PROMISIFY in timer))
      Object.defineProperty(timer, PROMISIFY, { value: promises[name] });
  }
  giveNames('timers.promises', promises);
  return { ...globals, promises, active: () => undefined, enroll: () => undefined, unenroll: () => undefined };
}

function makeTimersPromises(): Record<string, unknown> {
  const wait = (
    start: (done: () => void) => () => void,
    value: unknown,
    { signal }: WaitOptions = {},
  ): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (signal !== undefined && !(signal instanceof AbortSignal))
        throw invalidArgument('options.signal', 'an instance of AbortSignal', signal);
      if (signal?.aborted === true) return reject(abortError(signal));
      const stop = start(() => {
        signal?.removeEventListener('abort', abort);
        resolve(value);
      });
      const abort = (): void => {
        stop();
        reject(abortError(signal as AbortSignal));
      };
      signal?.addEventListener('abort', abort, { once: true });
    });
  const later = async (ms: unknown = 1, value?: unknown, options?: WaitOptions): Promise<unknown> => {
    if (typeof ms !== 'number') throw invalidArgument('delay', 'of type number', ms);
    return wait(
      (done) => {
        const timer = setTimeout(done, ms);
        if (options?.ref === false) timer.unref();
        return () => clearTimeout(timer);
      },
      value,
      options,
    );
  };
  const soon = (value?: unknown, options?: WaitOptions): Promise<unknown> =>
    wait(
      (done) => {
        const timer = setImmediate(done);
        return () => clearImmediate(timer);
      },
      value,
      options,
    );
  async function* every(ms = 1, value?: unknown, options?: WaitOptions): AsyncGenerator {
    for (;;) yield await later(ms, value, options);
  }
  return {
    setTimeout: later,
    setImmediate: soon,
    setInterval: every,
    scheduler: { wait: (ms: number, options?: WaitOptions) => later(ms, undefined, options), yield: () => soon() },
  };
}

function abortError(signal: AbortSignal): Error {
  return new AbortError(undefined, { cause: signal.reason });
}
