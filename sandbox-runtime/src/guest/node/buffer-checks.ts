import { Buffer } from 'buffer/';
import { giveName } from './give-names.ts';
import { codedError, invalidArgument, invalidValue, nativeError, outOfRange } from './errors.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type Methods = Record<string, AnyFunction>;

const BYTES_OR_TEXT = 'of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object';
const BYTES = 'an instance of Buffer or Uint8Array';
const MAX_BYTES = Number.MAX_SAFE_INTEGER;

/** Number methods: suffix and size in bytes; for integers also the range. */
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

/** Integers of 8 bytes, with the least, the most and how Node says the range. */
const BIG_NUMBERS: [suffix: string, least: bigint, most: bigint, range: string][] = [
  ['BigInt64', -(2n ** 63n), 2n ** 63n - 1n, '>= -(2n ** 63n) and < 2n ** 63n'],
  ['BigUInt64', 0n, 2n ** 64n - 1n, '>= 0n and < 2n ** 64n'],
];

/** Methods for integers whose number of bytes is an argument. */
const COUNTED = ['UIntLE', 'UIntBE', 'IntLE', 'IntBE'];
const MAX_COUNTED_BYTES = 6;

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

/** As above, of integers of 8 bytes, and of those that are as long as they are told to be. */
export function checkLongNumbers(methods: Methods): void {
  for (const [suffix, least, most, range] of BIG_NUMBERS) {
    for (const order of ['LE', 'BE']) {
      const [read, write] = [`read${suffix}${order}`, `write${suffix}${order}`];
      guard(methods, [read, read.replace('UInt', 'Uint')], ([offset = 0], bytes) =>
        checkOffset(offset, bytes.length - 8),
      );
      guard(methods, [write, write.replace('UInt', 'Uint')], ([value, offset = 0], bytes) => {
        if (typeof value === 'bigint' && (value < least || value > most)) throw outOfRange('value', range, value);
        checkOffset(offset, bytes.length - 8);
      });
    }
  }
  for (const suffix of COUNTED) {
    const other = suffix.replace('UInt', 'Uint');
    guard(methods, [`read${suffix}`, `read${other}`], ([offset, count], bytes) => {
      if (offset === undefined) throw invalidArgument('offset', 'of type number', offset);
      checkCounted(count, offset, bytes);
    });
    guard(methods, [`write${suffix}`, `write${other}`], ([value, offset, count], bytes) => {
      checkCounted(count, offset, bytes, (bits) => checkRange(Number(value), bits, suffix.startsWith('U')));
    });
  }
}

/** One function for all of the names, as in Node. */
function guard(methods: Methods, names: string[], check: (args: unknown[], bytes: Uint8Array) => void): void {
  const [name = ''] = names;
  const original = methods[name] as AnyFunction;
  const guarded = {
    guarded(this: unknown, ...args: unknown[]): unknown {
      check(args, this as Uint8Array);
      return Reflect.apply(original, this, args);
    },
  }.guarded;
  giveName(guarded, name);
  for (const each of names) methods[each] = guarded;
}

function checkCounted(count: unknown, offset: unknown, bytes: Uint8Array, also?: (bits: number) => void): void {
  if (typeof count !== 'number') throw invalidArgument('byteLength', 'of type number', count);
  if (!Number.isInteger(count)) throw outOfRange('byteLength', 'an integer', count);
  if (count < 1 || count > MAX_COUNTED_BYTES) throw outOfRange('byteLength', `>= 1 and <= ${MAX_COUNTED_BYTES}`, count);
  also?.(count * 8);
  checkOffset(offset, bytes.length - count);
}

function checkRange(value: number, bits: number, isUnsigned: boolean): void {
  const [least, most] = isUnsigned ? [0, 2 ** bits] : [-(2 ** (bits - 1)), 2 ** (bits - 1)];
  if (value >= least && value < most) return;
  const long = bits > 32 ? [isUnsigned ? '0' : `-(2 ** ${bits - 1})`, `< 2 ** ${isUnsigned ? bits : bits - 1}`] : [];
  const range = long.length > 0 ? `>= ${long[0]} and ${long[1]}` : `>= ${least} and <= ${most - 1}`;
  if (value < least || value >= most) throw outOfRange('value', range, value);
}

function checkOffset(offset: unknown, last: number): void {
  if (Number.isInteger(offset) && (offset as number) >= 0 && (offset as number) <= last) return;
  if (typeof offset !== 'number') throw invalidArgument('offset', 'of type number', offset);
  if (!Number.isInteger(offset) && Math.abs(offset) !== Infinity) throw outOfRange('offset', 'an integer', offset);
  if (last < 0) throw codedError('ERR_BUFFER_OUT_OF_BOUNDS', 'Attempt to access memory outside buffer bounds');
  throw outOfRange('offset', `>= 0 and <= ${last}`, offset);
}

export function checkSize(size: unknown): void {
  if (typeof size !== 'number') throw invalidArgument('size', 'of type number', size);
  if (!(size >= 0 && size <= MAX_BYTES)) throw outOfRange('size', `>= 0 && <= ${MAX_BYTES}`, size);
}

export function checkView(view: unknown, offset: unknown, length: unknown): void {
  if (!ArrayBuffer.isView(view) || view instanceof DataView)
    throw invalidArgument('view', 'an instance of TypedArray', view);
  checkIndex('offset', offset, MAX_BYTES);
  checkIndex('length', length, MAX_BYTES);
}

/** Throws Node's error for a value that `Buffer.from` cannot convert. */
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

/** Argument checks by method. They throw before the package sees the arguments. */
export const ARGUMENT_CHECKS: Readonly<Record<string, (args: unknown[], bytes: Uint8Array) => void>> = {
  compare: ([target, targetStart, targetEnd, sourceStart, sourceEnd], bytes) => {
    requireBytes('target', target);
    checkIndex('targetStart', targetStart, MAX_BYTES);
    checkIndex('targetEnd', targetEnd, (target as Uint8Array).length);
    checkIndex('sourceStart', sourceStart, MAX_BYTES);
    checkIndex('sourceEnd', sourceEnd, bytes.length);
  },
  copy: ([target, targetStart, sourceStart, sourceEnd], bytes) => {
    requireBytes('target', target);
    checkLeast('targetStart', targetStart);
    const start = checkLeast('sourceStart', sourceStart, bytes.length);
    if (start > bytes.length) throw outOfRange('sourceStart', `>= 0 && <= ${bytes.length}`, start);
    checkLeast('sourceEnd', sourceEnd);
  },
  fill: ([value, offset, end, encoding], bytes) => {
    const named = [offset, end, encoding].find((arg) => typeof arg === 'string');
    if (typeof value === 'string' && value !== '' && named !== undefined) {
      checkKnown(named);
      if (Buffer.from(value, named as BufferEncoding).length === 0) throw invalidValue('value', value);
    }
    if (typeof value === 'string' && typeof offset === 'string') return;
    if (typeof value === 'string' && typeof end === 'string') return checkIndex('offset', offset, MAX_BYTES);
    if (typeof value === 'string' && encoding !== undefined && typeof encoding !== 'string')
      throw invalidArgument('encoding', 'of type string', encoding);
    checkIndex('offset', offset, MAX_BYTES);
    if (offset !== undefined) checkIndex('end', end, bytes.length);
  },
  equals: ([other]) => requireBytes('otherBuffer', other),
  write: ([text, offset, length, encoding], bytes) => {
    if (typeof text !== 'string') throw nativeError('ERR_INVALID_ARG_TYPE', 'argument must be a string');
    if (typeof offset === 'string' || offset === undefined) return checkKnown(offset);
    checkIndex('offset', offset, bytes.length);
    if (typeof length === 'string') return checkKnown(length);
    checkIndex('length', length, bytes.length - (offset as number));
    checkKnown(encoding);
  },
  indexOf: checkSought,
  lastIndexOf: checkSought,
  includes: checkSought,
  swap16: (_, bytes) => checkMultiple(bytes, 16),
  swap32: (_, bytes) => checkMultiple(bytes, 32),
  swap64: (_, bytes) => checkMultiple(bytes, 64),
};

/** The same, for static methods. */
export const STATIC_CHECKS: Readonly<Record<string, (args: unknown[]) => void>> = {
  compare: ([first, second]) => {
    requireBytes('buf1', first);
    requireBytes('buf2', second);
  },
  concat: ([list, length]) => {
    if (!Array.isArray(list)) throw invalidArgument('list', 'an instance of Array', list);
    if (list.length > 0) checkIndex('length', length, MAX_BYTES);
    list.forEach((item, index) => requireBytes(`list[${index}]`, item));
  },
  byteLength: ([text]) => {
    if (typeof text !== 'string' && !ArrayBuffer.isView(text) && !(text instanceof ArrayBuffer))
      throw invalidArgument('string', 'of type string or an instance of Buffer or ArrayBuffer', text);
  },
};

/** Undefined is left out. */
function checkIndex(name: string, value: unknown, most: number): void {
  if (value === undefined) return;
  if (typeof value !== 'number') throw invalidArgument(name, 'of type number', value);
  if (!Number.isInteger(value)) throw outOfRange(name, 'an integer', value);
  if (value < 0 || value > most) throw outOfRange(name, `>= 0 && <= ${most}`, value);
}

/** A value that is no number is 0, as in Node. */
function checkLeast(name: string, value: unknown, most?: number): number {
  const index = Math.trunc(Number(value)) || 0;
  if (index < 0) throw outOfRange(name, most === undefined ? '>= 0' : `>= 0 && <= ${most}`, value);
  return index;
}

function checkKnown(encoding: unknown): void {
  checkEncoding((name) => Buffer.isEncoding(name), encoding);
}

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
