import { formatMessage, formatValue } from './format-value.ts';
import { toText } from './intrinsics.ts';

const CUSTOM = Symbol.for('nodejs.util.promisify.custom');

type Callback = (error: unknown, value?: unknown) => void;

/** The part of Node's `util` that components use. */
export function makeNodeUtil(textClasses: Record<string, unknown>): Record<string, unknown> {
  const promisify = Object.assign(promisifyFunction, { custom: CUSTOM });
  const inspect = Object.assign((value: unknown) => formatValue(value), {
    custom: Symbol.for('nodejs.util.inspect.custom'),
  });
  return {
    inspect,
    format: (...args: unknown[]) => formatMessage(args),
    promisify,
    callbackify: (fn: (...args: unknown[]) => Promise<unknown>) => callbackify(fn),
    isDeepStrictEqual: (first: unknown, second: unknown) => deepEqual(first, second, []),
    inherits: (child: { prototype: object }, parent: { prototype: object }) => {
      Object.defineProperty(child, 'super_', { value: parent, writable: true, configurable: true });
      Object.setPrototypeOf(child.prototype, parent.prototype);
    },
    deprecate: <F>(fn: F): F => fn,
    isArray: Array.isArray,
    types: {
      isPromise: (value: unknown) => value instanceof Promise,
      isDate: (value: unknown) => value instanceof Date,
      isRegExp: (value: unknown) => value instanceof RegExp,
      isUint8Array: (value: unknown) => value instanceof Uint8Array,
    },
    ...textClasses,
  };
}

function promisifyFunction(fn: ((...args: unknown[]) => void) & { [CUSTOM]?: unknown }): unknown {
  if (typeof fn !== 'function') throw new TypeError('promisify takes a function');
  return (
    fn[CUSTOM] ??
    function promisified(this: unknown, ...args: unknown[]): Promise<unknown> {
      return new Promise((resolve, reject) => {
        const done: Callback = (error, value) => (error ? reject(error as Error) : resolve(value));
        fn.call(this, ...args, done);
      });
    }
  );
}

function callbackify(fn: (...args: unknown[]) => Promise<unknown>): (...args: unknown[]) => void {
  return function callbackified(this: unknown, ...args: unknown[]): void {
    const done = args.pop() as Callback;
    // oxlint-disable promise/no-callback-in-promise -- turning a promise into a callback is what this is for
    fn.apply(this, args).then(
      (value) => queueMicrotask(() => done(null, value)),
      (error: unknown) => queueMicrotask(() => done(error ?? new Error('The promise was rejected without a reason'))),
    );
    // oxlint-enable promise/no-callback-in-promise
  };
}

function deepEqual(first: unknown, second: unknown, seen: [object, object][]): boolean {
  if (Object.is(first, second)) return true;
  if (typeof first !== 'object' || typeof second !== 'object' || first === null || second === null) return false;
  if (Object.getPrototypeOf(first) !== Object.getPrototypeOf(second)) return false;
  if (seen.some(([a, b]) => a === first && b === second)) return true;
  seen.push([first, second]);
  if (first instanceof Date) return first.getTime() === (second as Date).getTime();
  if (first instanceof RegExp) return toText(first) === toText(second);
  if (first instanceof Map || first instanceof Set) return deepEqual([...first], [...(second as Set<unknown>)], seen);
  const keys = Reflect.ownKeys(first);
  if (keys.length !== Reflect.ownKeys(second).length) return false;
  return keys.every(
    (key) => Object.hasOwn(second, key) && deepEqual(Reflect.get(first, key), Reflect.get(second, key), seen),
  );
}
