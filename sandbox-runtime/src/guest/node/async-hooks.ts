import { AsyncContext } from './async-context.ts';
import { requireFunction } from './errors.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

interface StorageOptions {
  defaultValue?: unknown;
  name?: string;
}

/**
 * `async_hooks`: AsyncLocalStorage and AsyncResource; see AsyncContext for how far a store is
 * carried.
 */
export function makeAsyncHooks(): Record<string, unknown> {
  const context = new AsyncContext();
  context.install();
  return {
    AsyncLocalStorage: makeStorageClass(context),
    AsyncResource: makeResourceClass(context),
    createHook: () => ({ enable: () => undefined, disable: () => undefined }),
    executionAsyncId: () => 1,
    triggerAsyncId: () => 0,
    executionAsyncResource: () => ({}),
    asyncWrapProviders: {},
  };
}

function makeStorageClass(context: AsyncContext): unknown {
  return class AsyncLocalStorage {
    readonly name: string;
    readonly #default: unknown;
    /** Stores of runs that returned a promise which has not settled. */
    readonly #pending = new Set<{ store: unknown }>();

    constructor({ defaultValue, name = '' }: StorageOptions = {}) {
      this.#default = defaultValue;
      this.name = name;
    }

    static bind(callback: AnyFunction): unknown {
      return context.bind(callback);
    }

    static snapshot(): (callback: AnyFunction, ...args: unknown[]) => unknown {
      const { frame } = context;
      return (callback, ...args) => context.runIn(frame, () => callback(...args));
    }

    getStore(): unknown {
      if (context.frame.has(this)) return context.frame.get(this);
      const [sole] = this.#pending;
      return sole !== undefined && this.#pending.size === 1 ? sole.store : this.#default;
    }

    run(store: unknown, callback: AnyFunction, ...args: unknown[]): unknown {
      const frame = new Map(context.frame).set(this, store);
      const result = context.runIn(frame, () => callback(...args));
      if (!(result instanceof Promise)) return result;
      const pending = { store };
      this.#pending.add(pending);
      const settle = (): void => void this.#pending.delete(pending);
      result.then(settle, settle);
      return result;
    }

    exit(callback: AnyFunction, ...args: unknown[]): unknown {
      const frame = new Map(context.frame).set(this, undefined);
      return context.runIn(frame, () => callback(...args));
    }

    enterWith(store: unknown): void {
      context.enter(new Map(context.frame).set(this, store));
    }

    disable(): void {
      this.#pending.clear();
      const frame = new Map(context.frame);
      frame.delete(this);
      context.enter(frame);
    }
  };
}

function makeResourceClass(context: AsyncContext): unknown {
  class AsyncResource {
    readonly #frame = context.frame;
    readonly type: string;

    constructor(type: string) {
      this.type = type;
    }

    static bind(callback: AnyFunction, type = 'bound', receiver?: unknown): AnyFunction {
      requireFunction('fn', callback);
      return new AsyncResource(type).bind(callback, receiver);
    }

    runInAsyncScope(callback: AnyFunction, receiver?: unknown, ...args: unknown[]): unknown {
      return context.runIn(this.#frame, () => callback.apply(receiver, args));
    }

    bind(callback: AnyFunction, receiver?: unknown): AnyFunction {
      const run = (own: unknown, args: unknown[]): unknown => this.runInAsyncScope(callback, receiver ?? own, ...args);
      return function bound(this: unknown, ...args: unknown[]) {
        return run(this, args);
      };
    }

    emitDestroy(): this {
      return this;
    }
    asyncId(): number {
      return 1;
    }
    triggerAsyncId(): number {
      return 0;
    }
  }
  return AsyncResource;
}
