import { Buffer } from 'buffer/';
import { ASK } from '../protocol/isolate-calls.ts';
import { joinBytes } from './blob.ts';
import type { Bridge } from './bridge.ts';
import { toText } from './intrinsics.ts';
import { askBytes, equalBytes } from './web-crypto.ts';

const MAX_RANDOM_BYTES = 65_536;

type Data = string | ArrayBufferView | ArrayBuffer;

/** The part of Node's `crypto` that signatures and ids need. Hashing happens outside, in one call at `digest`. */
export function makeNodeCrypto(bridge: Bridge, webCrypto: Record<string, unknown>): Record<string, unknown> {
  const randomBytes = (size: number): Buffer => {
    if (!Number.isInteger(size) || size < 0 || size > MAX_RANDOM_BYTES) {
      throw new RangeError(`randomBytes takes a size from 0 to ${MAX_RANDOM_BYTES}`);
    }
    return Buffer.from(askBytes(bridge, ASK.random, size).buffer);
  };
  return {
    createHash: (algorithm: string) =>
      new Digest((data) => askBytes(bridge, ASK.hash, toText(algorithm).toLowerCase(), data)),
    createHmac: (algorithm: string, key: Data) => {
      const secret = bytesOf(key);
      return new Digest((data) => askBytes(bridge, ASK.hmac, toText(algorithm).toLowerCase(), secret, data));
    },
    hash: (algorithm: string, data: Data, encoding: BufferEncoding = 'hex') =>
      new Digest((bytes) => askBytes(bridge, ASK.hash, algorithm.toLowerCase(), bytes)).update(data).digest(encoding),
    timingSafeEqual: (first: Uint8Array, second: Uint8Array) => {
      if (first.byteLength !== second.byteLength) throw new RangeError('Input buffers must have the same byte length');
      return equalBytes(bytesOf(first), bytesOf(second));
    },
    randomBytes,
    randomInt: (low: number, high?: number) => randomInt(randomBytes, high === undefined ? 0 : low, high ?? low),
    randomUUID: webCrypto['randomUUID'],
    getRandomValues: webCrypto['getRandomValues'],
    getHashes: () => ['md5', 'ripemd160', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'],
    webcrypto: webCrypto,
    subtle: webCrypto['subtle'],
  };
}

class Digest {
  readonly #finish: (data: Uint8Array) => Uint8Array<ArrayBuffer>;
  readonly #chunks: Uint8Array[] = [];
  #done = false;

  constructor(finish: (data: Uint8Array) => Uint8Array<ArrayBuffer>) {
    this.#finish = finish;
  }

  update(data: Data, encoding?: BufferEncoding): this {
    if (this.#done) throw new Error('Digest already called');
    this.#chunks.push(bytesOf(data, encoding));
    return this;
  }

  digest(encoding?: BufferEncoding): string | Buffer {
    if (this.#done) throw new Error('Digest already called');
    this.#done = true;
    const result = Buffer.from(this.#finish(joinBytes(this.#chunks)).buffer);
    return encoding === undefined || (encoding as string) === 'buffer' ? result : encodeDigest(result, encoding);
  }
}

// The `buffer` package knows no base64url.
function encodeDigest(bytes: Buffer, encoding: BufferEncoding): string {
  if (encoding !== 'base64url') return bytes.toString(encoding);
  return bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function bytesOf(data: Data, encoding?: BufferEncoding): Uint8Array {
  if (typeof data === 'string') return new Uint8Array(Buffer.from(data, encoding));
  if (data instanceof ArrayBuffer) return new Uint8Array(data.slice(0));
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength).slice();
  throw new TypeError('The data must be a string, a Buffer or a typed array');
}

/** Uniform in [low, high): values of the last, incomplete range are thrown away. */
function randomInt(randomBytes: (size: number) => Buffer, low: number, high: number): number {
  const range = high - low;
  if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || range <= 0 || range > 2 ** 48) {
    throw new RangeError('randomInt needs two integers, the second larger, at most 2^48 apart');
  }
  const limit = 2 ** 48 - (2 ** 48 % range);
  for (;;) {
    const value = randomBytes(6).readUIntBE(0, 6);
    if (value < limit) return low + (value % range);
  }
}
