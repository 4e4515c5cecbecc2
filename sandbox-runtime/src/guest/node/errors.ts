import { toText } from '../intrinsics.ts';
import { PrivateMap } from '../private-map.ts';

/** An error as Node throws it: with a `code` that packages look at. */
export interface CodedError extends Error {
  code: string;
}

type ErrorClass = new (message: string) => Error;

/** On the prototypes of Node's own errors: their stacks begin with the code too. */
export const SHOWS_CODE = Symbol('shows code');

const prototypes = new PrivateMap<string, object>();

/** As Node's JavaScript throws it: `String(error)` has the code, its class is the plain one. */
export function codedError(code: string, message: string, Base: ErrorClass = classOf(code)): CodedError {
  return Object.setPrototypeOf(nativeError(code, message, Base), prototypeOf(code, Base)) as CodedError;
}

/** As the native parts of Node throw it, and its web interfaces: the code is a property only. */
export function nativeError(code: string, message: string, Base: ErrorClass = classOf(code)): CodedError {
  const error = new Base(message) as CodedError;
  error.code = code;
  return error;
}

function prototypeOf(code: string, Base: ErrorClass): object {
  const key = `${Base.name} ${code}`;
  const known = prototypes.get(key);
  if (known !== undefined) return known;
  const hidden = { writable: true, configurable: true };
  const made = Object.create(Base.prototype as object, {
    constructor: { ...hidden, value: Base },
    toString: { ...hidden, value: toCodedString },
    [SHOWS_CODE]: { value: code },
  }) as object;
  prototypes.set(key, made);
  return made;
}

function toCodedString(this: CodedError & { [SHOWS_CODE]: string }): string {
  return `${this.name} [${this[SHOWS_CODE]}]: ${this.message}`;
}
Object.defineProperty(toCodedString, 'name', { value: 'toString' });

/** Thrown, or passed to a callback, when a signal ends the operation. */
export class AbortError extends Error {
  code: string;

  constructor(message = 'The operation was aborted', options?: ErrorOptions) {
    super(message, options);
    this.code = 'ABORT_ERR';
    this.name = 'AbortError';
  }
}

/** Classes of errors of which only code and message are known. */
function classOf(code: string): ErrorClass {
  switch (code) {
    case 'ERR_CRYPTO_INVALID_AUTH_TAG':
    case 'ERR_CRYPTO_INVALID_CURVE':
    case 'ERR_CRYPTO_INVALID_DIGEST':
    case 'ERR_CRYPTO_INVALID_IV':
    case 'ERR_CRYPTO_INVALID_JWK':
    case 'ERR_INVALID_ARG_TYPE':
    case 'ERR_INVALID_ARG_VALUE':
    case 'ERR_MISSING_ARGS':
    case 'ERR_UNKNOWN_ENCODING':
      return TypeError;
    case 'ERR_BUFFER_OUT_OF_BOUNDS':
    case 'ERR_BUFFER_TOO_LARGE':
    case 'ERR_CRYPTO_INVALID_SCRYPT_PARAMS':
    case 'ERR_INVALID_BUFFER_SIZE':
    case 'ERR_OUT_OF_RANGE':
      return RangeError;
    default:
      return Error;
  }
}

/**
 * Thrown when something of Node is used that a sandbox does not have. Importing it is no mistake;
 * using it is.
 */
export function notAvailable(what: string, instead = ''): CodedError {
  return codedError(
    'ERR_NOT_AVAILABLE',
    `${what} is not available in the sandbox${instead === '' ? '' : `: ${instead}`}`,
  );
}

/** `expected`: as Node says it, `of type string`. */
export function invalidArgument(name: string, expected: string, value: unknown): CodedError {
  const what = name.endsWith(' argument')
    ? `The ${name}`
    : `The "${name}" ${name.includes('.') ? 'property' : 'argument'}`;
  return codedError('ERR_INVALID_ARG_TYPE', `${what} must be ${expected}. Received ${received(value)}`);
}

/** Names an argument, or a property where the name has a dot. */
export function invalidValue(name: string, value: unknown, why = 'is invalid'): CodedError {
  const what = name.includes('.') ? 'property' : 'argument';
  return codedError('ERR_INVALID_ARG_VALUE', `The ${what} '${name}' ${why}. Received ${shownValue(value)}`);
}

/** Short: the values here are names, numbers and bytes that were given in their place. */
function shownValue(value: unknown): string {
  return typeof value === 'string' && value !== '{}' ? quoted(value) : toText(value);
}

export function requireFunction(name: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidArgument(name, 'of type function', value);
}

export function requireString(name: string, value: unknown): void {
  if (typeof value !== 'string') throw invalidArgument(name, 'of type string', value);
}

export function missingArguments(...names: string[]): CodedError {
  const list = names.map((name) => `"${name}"`).join(' and ');
  const all = names.length === 1 ? `${list} argument` : `${list} arguments`;
  return codedError('ERR_MISSING_ARGS', `The ${all} must be specified`);
}

export function outOfRange(name: string, range: string, value: unknown): CodedError {
  return codedError(
    'ERR_OUT_OF_RANGE',
    `The value of "${name}" is out of range. It must be ${range}. Received ${shownNumber(value)}`,
  );
}

function shownNumber(value: unknown): string {
  const text = toText(value);
  const isLong = typeof value === 'bigint' ? value > 2n ** 32n || value < -(2n ** 32n) : isLongInteger(value);
  const grouped = isLong ? text.replace(/\B(?=(\d{3})+$)/g, '_') : text;
  return typeof value === 'bigint' ? `${grouped}n` : grouped;
}

function isLongInteger(value: unknown): boolean {
  return Number.isInteger(value) && Math.abs(value as number) > 2 ** 32;
}

/** Describes the received value as Node's messages do. */
export function received(value: unknown): string {
  if (value === undefined || value === null) return toText(value);
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value === 'object') {
    const { constructor } = value as { constructor?: { name?: unknown } };
    return typeof constructor?.name === 'string' && constructor.name !== ''
      ? `an instance of ${constructor.name}`
      : '[Object: null prototype] {}';
  }
  const shown = typeof value === 'string' ? quoted(value) : typeof value === 'bigint' ? `${value}n` : toText(value);
  return `type ${typeof value} (${shown.length > 28 ? `${shown.slice(0, 25)}...` : shown})`;
}

function quoted(text: string): string {
  return text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replaceAll("'", "\\'")}'`;
}
