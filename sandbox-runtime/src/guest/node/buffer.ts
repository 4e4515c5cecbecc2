import * as bufferModule from 'buffer/';
import { Buffer } from 'buffer/';
import type { Bridge } from '../bridge.ts';
import { applyFunction } from '../intrinsics.ts';
import { decodeUtf8, encodeUtf8 } from '../utf8.ts';
import { listNamedKeys } from './array-keys.ts';
import {
  ARGUMENT_CHECKS,
  checkEncoding,
  checkLongNumbers,
  checkNumbers,
  checkSize,
  checkView,
  refuseSource,
  STATIC_CHECKS,
} from './buffer-checks.ts';
import { codedError, nativeError } from './errors.ts';
import { giveName, giveNames } from './give-names.ts';
import { CUSTOM, inspect, type InspectOptions } from './inspect.ts';

/** From this size on the process is faster than JavaScript in the isolate. */
const NATIVE_BYTES = 2_048;

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;
type Methods = Record<string, AnyFunction>;

// The package decodes both alphabets of base64, and encodes one.
function known(encoding: unknown): unknown {
  return typeof encoding === 'string' && encoding.toLowerCase() === 'base64url' ? 'base64' : encoding;
}

function isUtf8Name(encoding: unknown): boolean {
  return encoding === undefined || encoding === 'utf8' || encoding === 'utf-8';
}

/**
 * Adds to the npm package what Node's Buffer has gained since: base64url above all. Before the
 * snapshot is taken.
 */
export function completeBuffer(): void {
  const statics = Buffer as unknown as Methods;
  const methods = Buffer.prototype as unknown as Methods;
  // Packages (jsdom's among them) take a Buffer that has it for one of a browser.
  Reflect.deleteProperty(Buffer, 'TYPED_ARRAY_SUPPORT');
  completeStatics(statics);
  checkNumbers(methods);
  checkLongNumbers(methods);
  const { toString } = methods as { toString: AnyFunction };
  methods['toString'] = function toStringIn(this: unknown, encoding?: unknown, start?: unknown, end?: unknown) {
    if (!isUtf8Name(encoding)) checkEncoding(isEncoding, encoding);
    const text = applyFunction(toString, this, [known(encoding), start, end]) as string;
    return known(encoding) === encoding ? text : text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  };
  // Each takes an encoding as its last argument, after any others.
  for (const name of ['write', 'fill', 'indexOf', 'lastIndexOf', 'includes']) {
    const original = methods[name] as AnyFunction;
    methods[name] = function withEncoding(this: unknown, ...args: unknown[]) {
      return applyFunction(
        original,
        this,
        args.map((arg, index) => (index === 0 ? arg : known(arg))),
      );
    };
  }
  for (const name of Object.keys(ARGUMENT_CHECKS)) methods[name] = checked(methods[name], ARGUMENT_CHECKS[name]);
  const { fill } = methods as { fill: AnyFunction };
  methods['fill'] = function fillChecked(this: unknown, ...args: unknown[]) {
    checkEncoding(
      isEncoding,
      args.findLast((arg, index) => index > 0 && typeof arg === 'string'),
    );
    return applyFunction(fill, this, args);
  };
  const wrapped = [...Object.keys(ARGUMENT_CHECKS), 'toString', 'write', 'fill', 'indexOf', 'lastIndexOf', 'includes'];
  for (const encoding of ['utf8', 'latin1', 'hex', 'base64', 'base64url', 'ascii', 'ucs2'] as const) {
    methods[`${encoding}Slice`] = function slice(this: unknown, start?: unknown, end?: unknown) {
      return applyFunction(methods['toString'] as AnyFunction, this, [encoding, start, end]);
    };
    methods[`${encoding}Write`] = function write(this: unknown, text: unknown, start?: unknown, length?: unknown) {
      const at = (start as number | undefined) ?? 0;
      const room = (length as number | undefined) ?? (this as Buffer).length - at;
      return applyFunction(methods['write'] as AnyFunction, this, [text, at, room, encoding]);
    };
    wrapped.push(`${encoding}Slice`, `${encoding}Write`);
  }
  giveNames('buffer', methods, wrapped);
  const shown = giveName(inspectBytes, 'inspect');
  Object.assign(methods, { inspect: shown, [CUSTOM]: shown });
}

function inspectBytes(this: Buffer, _depth: unknown, options: InspectOptions = {}): string {
  const max = Math.min((bufferModule as { INSPECT_MAX_BYTES?: number }).INSPECT_MAX_BYTES ?? 50, this.length);
  const rest = this.length - max;
  const bytes = [...this.subarray(0, max)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  const more = rest > 0 ? ` ... ${rest} more byte${rest > 1 ? 's' : ''}` : '';
  const own = listNamedKeys(this).map((key) => [key, Reflect.get(this, key)] as const);
  // The members alone, without the braces around them.
  const shown = inspect(Object.fromEntries(own), { ...options, breakLength: Infinity, compact: true }).slice(2, -2);
  const members = own.length === 0 ? '' : `${this.length === 0 ? '' : ', '}${shown}`;
  return `<${this.constructor.name} ${bytes}${more}${members}>`;
}

function isEncoding(encoding: string): boolean {
  return Buffer.isEncoding(encoding);
}

function checked(
  original: AnyFunction | undefined,
  check: ((args: unknown[], bytes: Uint8Array) => void) | undefined,
): AnyFunction {
  return function checkedFirst(this: unknown, ...args: unknown[]) {
    check?.(args, this as Uint8Array);
    return applyFunction(original as AnyFunction, this, args);
  };
}

function completeStatics(statics: Methods): void {
  const { from, byteLength, alloc } = statics as Record<string, AnyFunction>;
  const { isEncoding: isPackageEncoding } = statics as Record<string, AnyFunction>;
  statics['isEncoding'] = (encoding) => applyFunction(isPackageEncoding as AnyFunction, Buffer, [known(encoding)]);
  statics['from'] = (value, second, third) => {
    if (typeof value === 'string') checkEncoding(isEncoding, second);
    else if (typeof value !== 'object' || value === null) refuseSource(value);
    try {
      return applyFunction(from as AnyFunction, Buffer, [value, known(second), third]);
    } catch (error) {
      // The package has no bytes for it either.
      if (error instanceof TypeError && error.message.startsWith('The first argument must be')) refuseSource(value);
      if (error instanceof RangeError && error.message.endsWith('is outside of buffer bounds'))
        throw codedError('ERR_BUFFER_OUT_OF_BOUNDS', error.message);
      throw error;
    }
  };
  statics['byteLength'] = (value, encoding) =>
    applyFunction(byteLength as AnyFunction, Buffer, [value, known(encoding)]);
  statics['alloc'] = (size, fill, encoding) => {
    checkSize(size);
    return applyFunction(alloc as AnyFunction, Buffer, [size, fill, known(encoding)]);
  };
  for (const name of ['allocUnsafe', 'allocUnsafeSlow'])
    statics[name] = checked(statics[name], ([size]) => checkSize(size));
  for (const name of Object.keys(STATIC_CHECKS)) statics[name] = checked(statics[name], STATIC_CHECKS[name]);
  statics['copyBytesFrom'] = (view, offset = 0, length) => {
    const items = view as Uint8Array;
    checkView(view, offset, length);
    const end = length === undefined ? undefined : (offset as number) + (length as number);
    const part = items.slice(offset as number, end);
    return Buffer.from(part.buffer, part.byteOffset, part.byteLength);
  };
  giveNames('buffer', statics);
}

/**
 * Long text goes through the process from now on. Called once in each isolate, before guest code
 * runs.
 */
export function speedUpBuffer(bridge: Bridge): void {
  const statics = Buffer as unknown as Methods;
  const methods = Buffer.prototype as unknown as Methods;
  const { from } = statics as Record<string, AnyFunction>;
  const { toString } = methods as { toString: AnyFunction };
  statics['from'] = (value, second, third) => {
    if (typeof value === 'string' && value.length > NATIVE_BYTES && isUtf8Name(second))
      return Buffer.from(encodeUtf8(bridge, value).buffer);
    return applyFunction(from as AnyFunction, Buffer, [value, second, third]);
  };
  methods['toString'] = function toStringIn(this: unknown, encoding?: unknown, start = 0, end?: unknown) {
    const bytes = this as Buffer;
    if (!isUtf8Name(encoding)) return applyFunction(toString, this, [encoding, start, end]);
    if (bytes.length <= NATIVE_BYTES) {
      const text = applyFunction(toString, this, [encoding, start, end]) as string;
      // The package counts broken bytes otherwise than the standard.
      if (!text.includes('\ufffd')) return text;
    }
    return decodeUtf8(bridge, bytes.subarray(start as number, end as number | undefined));
  };
  giveNames('buffer', statics, ['from']);
  giveNames('buffer', methods, ['toString']);
}

/** The module `buffer`. */
export function makeBufferModule(): Record<string, unknown> {
  const { kMaxLength } = bufferModule as unknown as { kMaxLength: number };
  const isUtf8 = (bytes: Uint8Array): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes);
      return true;
    } catch {
      // Fatal decoding throws for invalid UTF-8.
      return false;
    }
  };
  return {
    ...bufferModule,
    Buffer,
    kStringMaxLength: 536_870_888,
    constants: { MAX_LENGTH: kMaxLength, MAX_STRING_LENGTH: 536_870_888 },
    atob,
    btoa,
    Blob,
    File,
    isUtf8,
    isAscii: (bytes: Uint8Array) => bytes.every((byte) => byte < 128),
    transcode,
    resolveObjectURL: () => undefined,
  };
}

function transcode(source: Uint8Array, from: BufferEncoding, to: BufferEncoding): Buffer {
  if (!Buffer.isEncoding(from) || !Buffer.isEncoding(to))
    throw nativeError('U_ILLEGAL_ARGUMENT_ERROR', 'Unable to transcode Buffer [U_ILLEGAL_ARGUMENT_ERROR]');
  return Buffer.from(Buffer.from(source).toString(from), to);
}
