import { giveName } from './give-names.ts';
import { codedError, invalidArgument, outOfRange } from './errors.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type Methods = Record<string, AnyFunction>;

const BYTES_OR_TEXT = 'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object';
const BYTES = 'an instance of Buffer or Uint8Array';
const MAX_BYTES = Number.MAX_SAFE_INTEGER;

/** What is read and written, with so many bytes; of integers the least and the most. */
const NUMBERS: [suffix: string, bytes: number, least?: number, most?: number][] = [
  ['UInt8', 1, 0, 255],
  ['UInt16LE', 2, 0, 65_535],
  ['UInt16BE', 2, 0, 65_535],
  ['UInt32LE', 4, 0, 4_294_967_295],
  ['UInt32BE', 4, 0, 4_294_967_295],
  ['Int8', 1, -128, 127],
  ['Int16LE', 2, -32_768, 32_767],
  ['Int16BE', 2, -32_768, 32_767],
  ['Int32LE', 4, -2_147_483_648, 2_147_483_647],
  ['Int32BE', 4, -2_147_483_648, 2_147_483_647],
  ['FloatLE', 4],
  ['FloatBE', 4],
  ['DoubleLE', 8],
  ['DoubleBE', 8],
];

/**
 * The package checks less than Node, and throws errors without codes: what these let through it
 * does not look at again.
 */
export function checkNumbers(methods: Methods): void {
  for (const [suffix, bytes, least, most] of NUMBERS) {
    const [read, write] = [methods[`read${suffix}`] as AnyFunction, methods[`write${suffix}`] as AnyFunction];
    const checkedRead = {
      read(this: Uint8Array, offset: unknown = 0): unknown {
        checkOffset(offset, this.length - bytes);
        return read.call(this, offset, true);
      },
    }.read;
    const checkedWrite = {
      write(this: Uint8Array, value: unknown, offset: unknown = 0): unknown {
        const number = Number(value);
        if (least !== undefined && most !== undefined && (number < least || number > most))
          throw outOfRange('value', `>= ${least} and <= ${most}`, number);
        checkOffset(offset, this.length - bytes);
        return write.call(this, number, offset, true);
      },
    }.write;
    giveName(checkedRead, `read${suffix}`);
    giveName(checkedWrite, `write${suffix}`);
    for (const name of [suffix, suffix.replace('UInt', 'Uint')]) {
      methods[`read${name}`] = checkedRead as AnyFunction;
      methods[`write${name}`] = checkedWrite as AnyFunction;
    }
  }
}

function checkOffset(offset: unknown, last: number): void {
  if (Number.isInteger(offset) && (offset as number) >= 0 && (offset as number) <= last) return;
  if (typeof offset !== 'number') throw invalidArgument('offset', 'of type number', offset);
  if (!Number.isInteger(offset)) throw outOfRange('offset', 'an integer', offset);
  if (last < 0) throw codedError('ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
  throw outOfRange('offset', `>= 0 and <= ${last}`, offset);
}

export function checkSize(size: unknown): void {
  if (typeof size !== 'number') throw invalidArgument('size', 'of type number', size);
  if (!(size >= 0 && size <= MAX_BYTES)) throw outOfRange('size', `>= 0 && <= ${MAX_BYTES}`, size);
}

/** What `Buffer.from` has no bytes for; `failed`: it was tried. */
export function refuseSource(value: unknown): never {
  throw invalidArgument('first argument', BYTES_OR_TEXT, value);
}

export function checkEncoding(isKnown: (encoding: string) => boolean, encoding: unknown): void {
  if (typeof encoding === 'string' && encoding !== '' && !isKnown(encoding)) throw unknownEncoding(encoding);
}

export function unknownEncoding(encoding: unknown): Error {
  return codedError('ERR_UNKNOWN_ENCODING', `Unknown encoding: ${String(encoding)}`);
}

function isBytes(value: unknown): boolean {
  return value instanceof Uint8Array;
}

/** By method: what is wrong with its arguments, thrown before the package sees them. */
export const ARGUMENT_CHECKS: Readonly<Record<string, (args: unknown[], bytes: Uint8Array) => void>> = {
  compare: ([target]) => requireBytes('target', target),
  copy: ([target]) => requireBytes('target', target),
  equals: ([other]) => requireBytes('otherBuffer', other),
  write: ([text]) => {
    if (typeof text !== 'string') throw codedError('ERR_INVALID_ARG_TYPE', 'argument must be a string');
  },
  indexOf: checkSought,
  lastIndexOf: checkSought,
  includes: checkSought,
  swap16: (_, bytes) => checkMultiple(bytes, 16),
  swap32: (_, bytes) => checkMultiple(bytes, 32),
  swap64: (_, bytes) => checkMultiple(bytes, 64),
};

/** The same, of the functions of the class itself. */
export const STATIC_CHECKS: Readonly<Record<string, (args: unknown[]) => void>> = {
  compare: ([first, second]) => {
    requireBytes('buf1', first);
    requireBytes('buf2', second);
  },
  concat: ([list]) => {
    if (!Array.isArray(list)) throw invalidArgument('list', 'an instance of Array', list);
    list.forEach((item, index) => requireBytes(`list[${index}]`, item));
  },
  byteLength: ([text]) => {
    if (typeof text !== 'string' && !ArrayBuffer.isView(text) && !(text instanceof ArrayBuffer))
      throw invalidArgument('string', 'of type string or an instance of Buffer or ArrayBuffer', text);
  },
};

function requireBytes(name: string, value: unknown): void {
  if (!isBytes(value)) throw invalidArgument(name, BYTES, value);
}

function checkSought([value]: unknown[]): void {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean' && !isBytes(value))
    throw invalidArgument('value', `one of type number or string or ${BYTES}`, value);
}

function checkMultiple(bytes: Uint8Array, bits: number): void {
  if (bytes.length % (bits / 8) !== 0)
    throw codedError('ERR_INVALID_BUFFER_SIZE', `Buffer size must be a multiple of ${bits}-bits`);
}
