import { EventEmitter } from 'events/';
import { applyFunction } from './intrinsics.ts';
import { giveNames } from './node/give-names.ts';

type Listener = (...args: unknown[]) => void;

export type UncaughtOrigin = 'uncaughtException' | 'unhandledRejection';

/** The listeners that a component has put on `process`, as far as a run can call them. */
export interface ProcessEvents {
  /** False if no listener takes the error: it ends the run. Throws what a listener throws. */
  takes(error: unknown, origin: UncaughtOrigin): boolean;
}

/** A run has no end of a process, and no signal reaches it. */
const NEVER_CALLED = /^(?:exit|beforeExit|SIG[A-Z0-9]+)$/;
const ADDING = ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener'] as const;

const { emit, listenerCount } = EventEmitter.prototype;

/** `warn` gets one line for each event of which listeners are never called. */
export function makeProcessEmitter(warn: (message: string) => void): EventEmitter {
  // A class of this name, as Node has it.
  const made = { process: class extends EventEmitter {} };
  const told: Record<string, true> = { __proto__: null } as never;
  for (const method of ADDING) {
    const add = EventEmitter.prototype[method] as (name: string | symbol, listener: Listener) => unknown;
    Object.defineProperty(made.process.prototype, method, {
      configurable: true,
      writable: true,
      value(this: object, name: string | symbol, listener: Listener) {
        const result: unknown = applyFunction(add, this, [name, listener]);
        if (typeof name === 'string' && NEVER_CALLED.test(name) && told[name] === undefined) {
          told[name] = true;
          warn(neverCalled(name));
        }
        return result;
      },
    });
  }
  giveNames('process', made.process.prototype);
  return new made.process() as EventEmitter;
}

function neverCalled(name: string): string {
  const why = name.startsWith('SIG') ? 'no signal reaches a component' : 'a process outlives its runs';
  return `Listeners of process for '${name}' are never called: ${why}`;
}

export function readProcessEvents(process: object): ProcessEvents {
  const has = (name: string): boolean => (applyFunction(listenerCount, process, [name]) as number) > 0;
  const tell = (name: string, ...args: unknown[]): unknown => applyFunction(emit, process, [name, ...args]);
  return {
    takes(error, origin) {
      if (origin === 'unhandledRejection' && has('unhandledRejection')) {
        tell('unhandledRejection', error, rejectedWith(error));
        return true;
      }
      if (has('uncaughtExceptionMonitor')) tell('uncaughtExceptionMonitor', error, origin);
      if (!has('uncaughtException')) return false;
      tell('uncaughtException', error, origin);
      return true;
    },
  };
}

/** The promise itself is out of reach: one like it, which is handled. */
function rejectedWith(reason: unknown): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  reject(reason as Error);
  promise.catch(() => undefined);
  return promise;
}
