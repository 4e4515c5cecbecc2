import { joinBytes } from '../../blob.ts';
import type { Bridge } from '../../bridge.ts';
import { codedError, invalidArgument, nativeError } from '../errors.ts';
import { Transform } from '../stream.ts';
import { askCrypto, bytesOf, encodeBytes, secretBytesOf, toBuffer } from './ask.ts';
import { KeyObject } from './key-object.ts';

type Finish = (data: Uint8Array) => Buffer;

/**
 * Hash and Hmac: the data is collected, and the process works on it in one call at `digest`. Both
 * are streams too.
 */
class LazyTransform extends Transform {
  readonly #finish: Finish;
  #chunks: Uint8Array[] = [];
  #done = false;

  constructor(finish: Finish) {
    super();
    this.#finish = finish;
  }

  update(data: unknown, encoding?: unknown): this {
    if (this.#done) throw codedError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    this.#chunks.push(bytesOf(data, encoding));
    return this;
  }

  digest(encoding?: unknown): string | Buffer {
    if (this.#done) throw codedError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    this.#done = true;
    const result = this.#finish(joinBytes(this.#chunks));
    this.#chunks = [];
    return encodeBytes(result, encoding);
  }

  override _transform(chunk: Buffer, encoding: string, callback: () => void): void {
    this.update(chunk, encoding);
    callback();
  }

  override _flush(callback: (error: Error | null, data?: unknown) => void): void {
    callback(null, this.digest());
  }

  protected takeFrom(other: LazyTransform): this {
    if (other.#done) throw codedError('ERR_CRYPTO_HASH_FINALIZED', 'Digest already called');
    this.#chunks = [...other.#chunks];
    return this;
  }
}

class Hash extends LazyTransform {
  readonly #work: Finish;

  constructor(finish: Finish) {
    super(finish);
    this.#work = finish;
  }

  copy(): Hash {
    return new Hash(this.#work).takeFrom(this);
  }
}

class Hmac extends LazyTransform {}

/** createHash, createHmac and hash. */
export function makeDigests(bridge: Bridge): Record<string, unknown> {
  const hasher = (algorithm: unknown, options?: { outputLength?: number }): Finish => {
    const name = nameOf(algorithm);
    const outputLength = options?.outputLength;
    if (outputLength !== undefined)
      return (data) => askCrypto(bridge, { operation: 'shake', algorithm: name, outputLength }, data);
    return (data) => toBuffer(bridge.ask({ kind: 'hash', algorithm: name, data }));
  };
  return {
    Hash,
    Hmac,
    createHash: (algorithm: unknown, options?: { outputLength?: number }) => {
      const finish = hasher(algorithm, options);
      checkHash(bridge, nameOf(algorithm));
      return new Hash(finish);
    },
    createHmac: (algorithm: unknown, key: unknown, options?: { encoding?: unknown }) => {
      const name = nameOf(algorithm, 'hmac');
      const secret =
        key instanceof KeyObject
          ? key.bytes()
          : secretBytesOf('key', key, options?.encoding, 'DataView, KeyObject, or CryptoKey');
      checkHash(bridge, name, () => nativeError('ERR_CRYPTO_INVALID_DIGEST', `Invalid digest: ${String(algorithm)}`));
      return new Hmac((data) => toBuffer(bridge.ask({ kind: 'hmac', algorithm: name, key: secret, data })));
    },
    hash: (algorithm: unknown, data: unknown, encoding: unknown = 'hex') => {
      const bytes = bytesOf(data, undefined, 'input');
      const unknown = () => new Error(`Digest method ${String(algorithm)} is not supported`);
      checkHash(bridge, nameOf(algorithm), unknown);
      return encodeBytes(hasher(algorithm)(bytes), encoding);
    },
  };
}

function nameOf(algorithm: unknown, argument = 'algorithm'): string {
  if (typeof algorithm !== 'string') throw invalidArgument(argument, 'of type string', algorithm);
  const name = algorithm.toLowerCase();
  return name.replace(/^sha-(1|224|256|384|512)$/, 'sha$1');
}

const COMMON = new Set(['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512']);

/** Throws for an unknown algorithm where it is named, not where the digest is taken. */
function checkHash(
  bridge: Bridge,
  name: string,
  unknown = (): Error => new Error('Digest method not supported'),
): void {
  if (COMMON.has(name)) return;
  const answer = bridge.ask({ kind: 'hash', algorithm: name, data: new Uint8Array(0) });
  if (typeof answer === 'string') throw unknown();
}
