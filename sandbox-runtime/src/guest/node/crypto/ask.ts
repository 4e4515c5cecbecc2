import type { Bridge } from '../../bridge.ts';
import { throwLimitOf } from '../../throw-refused.ts';
import { invalidArgument, nativeError } from '../errors.ts';

const NOTHING = new Uint8Array(0);

/**
 * One operation of the process's own crypto: see worker/ask-crypto.ts. If the answer is an error
 * instead of bytes, throws it.
 */
export function askCrypto(
  bridge: Bridge,
  head: object,
  data: Uint8Array = NOTHING,
  second: Uint8Array = NOTHING,
): Buffer {
  return toBuffer(bridge.ask({ kind: 'node-crypto', head: JSON.stringify(head), data, second }));
}

export function askCryptoJson(bridge: Bridge, head: object, data?: Uint8Array): unknown {
  return JSON.parse(askCrypto(bridge, head, data).toString()) as unknown;
}

export function toBuffer(answer: Uint8Array | string): Buffer {
  if (typeof answer !== 'string') return Buffer.from(answer.buffer);
  throwLimitOf(answer);
  const bar = answer.indexOf('|');
  if (bar > 0) throw nativeError(answer.slice(0, bar), answer.slice(bar + 1));
  throw new Error(answer);
}

/**
 * A copy of the bytes, which owns its buffer: crossing the bridge takes the whole buffer behind a
 * view along.
 */
export function bytesOf(
  data: unknown,
  encoding?: unknown,
  name = 'data',
  expected = 'of type string or an instance of Buffer, TypedArray, or DataView',
): Uint8Array<ArrayBuffer> {
  if (typeof data === 'string') return new Uint8Array(Buffer.from(data, encodingOf(encoding)));
  if (data instanceof ArrayBuffer) return new Uint8Array(data.slice(0));
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength).slice();
  throw invalidArgument(name, expected, data);
}

/** The same, for a key or a password, which may also be an ArrayBuffer. */
export function secretBytesOf(
  name: string,
  secret: unknown,
  encoding?: unknown,
  others = 'or DataView',
): Uint8Array<ArrayBuffer> {
  const text = 'of type string or ';
  return bytesOf(secret, encoding, name, `${text}an instance of ArrayBuffer, Buffer, TypedArray, ${others}`);
}

export function base64Of(data: unknown, encoding?: unknown): string {
  return Buffer.from(bytesOf(data, encoding).buffer).toString('base64');
}

export function encodeBytes(bytes: Buffer, encoding: unknown): string | Buffer {
  return typeof encoding === 'string' && encoding !== 'buffer' ? bytes.toString(encoding as BufferEncoding) : bytes;
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === 'string' && encoding !== 'buffer' ? (encoding as BufferEncoding) : 'utf8';
}
