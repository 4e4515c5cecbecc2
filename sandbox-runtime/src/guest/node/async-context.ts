import { applyFunction } from '../intrinsics.ts';
import { giveNames } from './give-names.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type Frame = ReadonlyMap<object, unknown>;

const NO_FRAME: Frame = new Map();

/**
 * Stores of each AsyncLocalStorage, carried along to callbacks. V8 gives no signal when code
 * resumes after an `await`. So the frame is bound to callbacks of `then`, timers, `nextTick` and
 * `queueMicrotask`. After an `await` without a bound frame, a storage returns the store of its one
 * pending run; with several, undefined.
 */
export class AsyncContext {
  #frame: Frame = NO_FRAME;

  get frame(): Frame {
    return this.#frame;
  }

  runIn<Result>(frame: Frame, work: () => Result): Result {
    const before = this.#frame;
    this.#frame = frame;
    try {
      return work();
    } finally {
      this.#frame = before;
    }
  }

  enter(frame: Frame): void {
    this.#frame = frame;
  }

  bind(callback: unknown): unknown {
    if (typeof callback !== 'function' || this.#frame.size === 0) return callback;
    const frame = this.#frame;
    return (...args: unknown[]) => this.runIn(frame, () => applyFunction(callback as AnyFunction, undefined, args));
  }

  /**
   * Patches what takes callbacks. Done when async_hooks is first imported: no other component pays
   * for it.
   */
  install(): void {
    const promise = Promise.prototype as unknown as Record<string, AnyFunction>;
    const then = promise['then'] as AnyFunction;
    const bind = (callback: unknown): unknown => this.bind(callback);
    // oxlint-disable-next-line unicorn/no-thenable -- the frame of a promise's callbacks is bound where they are given
    promise['then'] = function thenInFrame(this: unknown, done?: unknown, failed?: unknown) {
      return applyFunction(then, this, [bind(done), bind(failed)]);
    };
    giveNames('', promise, ['then']);
    const globals = globalThis as unknown as Record<string, AnyFunction>;
    for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']) patch(globals, name, this);
    patch(process as unknown as Record<string, AnyFunction>, 'nextTick', this);
  }
}

function patch(target: Record<string, AnyFunction>, name: string, context: AsyncContext): void {
  const original = target[name] as AnyFunction;
  target[name] = (callback, ...args) => applyFunction(original, undefined, [context.bind(callback), ...args]);
  giveNames('', target, [name]);
}
