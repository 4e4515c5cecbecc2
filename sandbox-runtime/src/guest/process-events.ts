import { EventEmitter } from 'events/';
import { applyFunction } from './intrinsics.ts';
import { giveNames } from './node/give-names.ts';

type Listener = (...args: unknown[]) => void;

/** A run has no end of a process, no signal reaches it, and what nothing caught fails it. */
const NEVER_CALLED =
  /^(?:exit|beforeExit|unhandledRejection|rejectionHandled|uncaughtException(?:Monitor)?|SIG[A-Z0-9]+)$/;
const ADDING = ['on', 'addListener', 'once', 'prependListener', 'prependOnceListener'] as const;

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
  const why = name.startsWith('SIG')
    ? 'no signal reaches a component'
    : name === 'exit' || name === 'beforeExit'
      ? 'a process outlives its runs'
      : 'what nothing caught fails the run';
  return `Listeners of process for '${name}' are never called: ${why}`;
}
