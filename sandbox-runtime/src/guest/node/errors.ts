import { toText } from '../intrinsics.ts';

/** An error as Node throws it: with a `code` that packages look at. */
export interface CodedError extends Error {
  code: string;
}

type ErrorClass = new (message: string) => Error;

export function codedError(code: string, message: string, Base: ErrorClass = classOf(code)): CodedError {
  const error = new Base(message) as CodedError;
  error.code = code;
  return error;
}

/** Classes of errors of which only code and message are known. */
function classOf(code: string): ErrorClass {
  switch (code) {
    case 'ERR_CRYPTO_INVALID_DIGEST':
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

/** What was given, as Node tells it. */
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
