import { isDeepEqual } from './deep-equal.ts';
import { codedError, invalidArgument, nativeError, requireFunction, requireString } from './errors.ts';
import { formatWith, inspect, type InspectOptions } from './inspect.ts';
import { NODE_FACTS } from './node-facts.ts';
import { parseArgs } from './parse-args.ts';
import { types } from './util-types.ts';

const PROMISIFY = Symbol.for('nodejs.util.promisify.custom');

type Callback = (error: unknown, value?: unknown) => void;
type Method = (this: unknown, ...args: unknown[]) => unknown;

/** `util`. */
export function makeUtil(textClasses: Record<string, unknown>): Record<string, unknown> {
  return {
    inspect,
    format: (...args: unknown[]) => formatWith({}, args),
    formatWithOptions: (options: InspectOptions, ...args: unknown[]) => formatWith(options, args),
    promisify: Object.assign(promisify, { custom: PROMISIFY }),
    callbackify,
    inherits,
    deprecate,
    debuglog: makeDebuglog,
    debug: makeDebuglog,
    isDeepStrictEqual: (first: unknown, second: unknown) => isDeepEqual(first, second),
    isArray: Array.isArray,
    types,
    parseArgs,
    toUSVString: (text: unknown) => String(text).toWellFormed(),
    stripVTControlCharacters: (text: string) => {
      requireString('str', text);
      return text.replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007]*\u0007/g, '');
    },
    styleText: (_style: unknown, text: string) => text,
    getSystemErrorName: (errno: unknown) => {
      if (typeof errno !== 'number') throw invalidArgument('err', 'of type number', errno);
      return systemErrorName(errno);
    },
    aborted: async (signal: AbortSignal, resource: unknown) => {
      if (!(signal instanceof AbortSignal))
        throw nativeError('ERR_INVALID_ARG_TYPE', 'signal is not of type AbortSignal.');
      if (typeof resource !== 'object' || resource === null)
        throw invalidArgument('resource', 'of type object', resource);
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
    _extend: (target: object, source: object | null) => Object.assign(target, source),
    // Still called by packages of old; Node took most of these away in version 23.
    isBoolean: (value: unknown) => typeof value === 'boolean',
    isBuffer: (value: unknown) => Buffer.isBuffer(value),
    isDate: types.isDate,
    isError: (value: unknown) => value instanceof Error,
    isFunction: (value: unknown) => typeof value === 'function',
    isNull: (value: unknown) => value === null,
    isNullOrUndefined: (value: unknown) => value === null || value === undefined,
    isNumber: (value: unknown) => typeof value === 'number',
    isObject: (value: unknown) => typeof value === 'object' && value !== null,
    isPrimitive: (value: unknown) => value === null || (typeof value !== 'object' && typeof value !== 'function'),
    isRegExp: types.isRegExp,
    isString: (value: unknown) => typeof value === 'string',
    isSymbol: (value: unknown) => typeof value === 'symbol',
    isUndefined: (value: unknown) => value === undefined,
    ...textClasses,
  };
}

function systemErrorName(errno: number): string {
  const names = NODE_FACTS.osConstants['errno'] ?? {};
  return Object.keys(names).find((name) => names[name] === -errno) ?? `Unknown system error ${errno}`;
}

function promisify(original: Method & { [PROMISIFY]?: unknown }): unknown {
  requireFunction('original', original);
  const custom = original[PROMISIFY];
  if (custom !== undefined && custom !== null) {
    requireFunction('util.promisify.custom', custom);
    return custom;
  }
  function promisified(this: unknown, ...args: unknown[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const done: Callback = (error, value) => (error ? reject(error as Error) : resolve(value));
      original.call(this, ...args, done);
    });
  }
  Object.setPrototypeOf(promisified, Object.getPrototypeOf(original) as object);
  Object.defineProperty(promisified, PROMISIFY, { value: promisified, configurable: true });
  return Object.defineProperties(promisified, Object.getOwnPropertyDescriptors(original));
}

function callbackify(original: (...args: unknown[]) => Promise<unknown>): Method {
  requireFunction('original', original);
  return function callbackified(this: unknown, ...args: unknown[]): void {
    const done = args.pop() as Callback;
    requireFunction('last argument', done);
    original.apply(this, args).then(
      (value) => process.nextTick(done, null, value),
      (error: unknown) => process.nextTick(done, error ? error : rejectedWithNothing(error)),
    );
  };
}

function rejectedWithNothing(reason: unknown): Error {
  const error = codedError('ERR_FALSY_VALUE_REJECTION', 'Promise was rejected with falsy value');
  return Object.assign(error, { reason });
}

function inherits(child: { prototype: object }, parent: { prototype: object }): void {
  if (parent === undefined || parent === null) throw invalidArgument('superCtor', 'of type function', parent);
  if (typeof parent.prototype !== 'object')
    throw invalidArgument('superCtor.prototype', 'of type object', parent.prototype);
  Object.defineProperty(child, 'super_', { value: parent, writable: true, configurable: true });
  Object.setPrototypeOf(child.prototype, parent.prototype);
}

function deprecate(fn: Method, message: string, code?: string): Method {
  let warned = false;
  const deprecated = function deprecated(this: unknown, ...args: unknown[]): unknown {
    if (!warned) {
      warned = true;
      process.emitWarning(message, 'DeprecationWarning', code);
    }
    return new.target === undefined
      ? Reflect.apply(fn, this, args)
      : (Reflect.construct(fn, args, new.target) as unknown);
  };
  Object.setPrototypeOf(deprecated, fn);
  deprecated.prototype = fn.prototype as object;
  return deprecated;
}

/** Nothing is ever shown: what switches it on in Node is an environment variable. */
function makeDebuglog(): unknown {
  return Object.assign((): void => undefined, { enabled: false });
}
