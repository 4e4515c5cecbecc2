import { type CodedError, codedError, invalidArgument, nativeError, outOfRange } from './errors.ts';

const MAX_FD = 2 ** 31 - 1;
const MAX_PORT = 65_535;

/** A number of a file, as functions of `fs` take it. */
export function requireDescriptor(fd: unknown): number {
  try {
    return requireInteger('fd', fd, 0, MAX_FD);
  } catch (error) {
    // Node's native part checks it.
    const { code, message } = error as CodedError;
    throw nativeError(code, message);
  }
}

export function requireInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number') throw invalidArgument(name, 'of type number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < min || value > max) throw outOfRange(name, `>= ${min} && <= ${max}`, value);
  return value;
}

/** Milliseconds that a timeout of a request or a socket has. */
export function requireTimeout(name: string, value: unknown): void {
  if (typeof value !== 'number') throw invalidArgument(name, 'of type number', value);
  if (!(value >= 0 && Number.isFinite(value))) throw outOfRange(name, 'a non-negative finite number', value);
}

/** A port as Node takes it: a number, or its digits. */
export function requirePort(port: unknown): number {
  const isGiven = typeof port === 'number' || (typeof port === 'string' && port.trim() !== '');
  const number = Number(port);
  if (isGiven && number === number >>> 0 && number <= MAX_PORT) return number;
  const shown = typeof port === 'string' ? `'${port}'` : String(port);
  throw codedError(
    'ERR_SOCKET_BAD_PORT',
    `Port should be >= 0 and < 65536. Received type ${typeof port} (${shown}).`,
    RangeError,
  );
}
