import type { Bridge } from '../../bridge.ts';
import { joinBytes } from '../../blob.ts';
import { codedError, nativeError, requireString } from '../errors.ts';
import { Writable } from '../stream.ts';
import { askCrypto, askCryptoJson, base64Of, bytesOf, encodeBytes } from './ask.ts';
import type { KeyTools } from './key-object.ts';

interface Padding {
  padding?: number | undefined;
  saltLength?: number | undefined;
  dsaEncoding?: string | undefined;
  oaepHash?: string | undefined;
  oaepLabel?: string | undefined;
}

/** Members of a key argument that concern the operation, not the key. */
function paddingOf(key: unknown): Padding {
  if (typeof key !== 'object' || key === null) return {};
  const { padding, saltLength, dsaEncoding, oaepHash, oaepLabel } = key as Padding & Record<string, unknown>;
  return {
    padding,
    saltLength,
    dsaEncoding,
    oaepHash,
    oaepLabel: oaepLabel === undefined ? undefined : base64Of(oaepLabel),
  };
}

type Callback = (error: Error | null, value?: unknown) => void;

class Signing extends Writable {
  readonly #chunks: Uint8Array[] = [];

  update(data: unknown, encoding?: unknown): this {
    this.#chunks.push(bytesOf(data, encoding));
    return this;
  }

  override _write(chunk: Buffer, encoding: string, callback: () => void): void {
    this.update(chunk, encoding);
    callback();
  }

  protected data(): Uint8Array {
    return joinBytes(this.#chunks);
  }
}

/** sign, verify, their streams, and encryption with a key pair. */
export function makeSignatures(bridge: Bridge, keys: KeyTools): Record<string, unknown> {
  const algorithmOf = (name: unknown): string | null =>
    name === null || name === undefined ? null : (name as string).replace(/^RSA-/i, '');
  const sign = (name: unknown, data: unknown, key: unknown): Buffer =>
    askCrypto(
      bridge,
      { operation: 'sign', algorithm: algorithmOf(name), ...paddingOf(key) },
      bytesOf(data),
      keys.derOf(key, 'private'),
    );
  const verify = (name: unknown, data: unknown, key: unknown, signature: unknown): boolean => {
    const head = {
      operation: 'verify',
      algorithm: algorithmOf(name),
      signature: base64Of(signature),
      ...paddingOf(key),
    };
    return askCrypto(bridge, head, bytesOf(data), keys.derOf(key, 'public'))[0] === 1;
  };
  const knownDigest = digestCheck(bridge);
  class Sign extends Signing {
    readonly #name: string;
    constructor(name: string) {
      super();
      this.#name = name;
    }
    sign(key: unknown, encoding?: unknown): string | Buffer {
      if (key === undefined || key === null || key === '')
        throw codedError('ERR_CRYPTO_SIGN_KEY_REQUIRED', 'No key provided to sign');
      return encodeBytes(sign(this.#name, this.data(), key), encoding);
    }
  }
  class Verify extends Signing {
    readonly #name: string;
    constructor(name: string) {
      super();
      this.#name = name;
    }
    verify(key: unknown, signature: unknown, encoding?: unknown): boolean {
      return verify(this.#name, this.data(), key, bytesOf(signature, encoding));
    }
  }
  const pairOperation =
    (operation: string, half: 'private' | 'public') =>
    (key: unknown, data: unknown): Buffer =>
      askCrypto(bridge, { operation, ...paddingOf(key) }, bytesOf(data), keys.derOf(key, half));
  return {
    Sign,
    Verify,
    createSign: (name: string) => new Sign(knownDigest(name)),
    createVerify: (name: string) => new Verify(knownDigest(name)),
    sign: withCallback(sign, 3),
    verify: withCallback(verify, 4),
    publicEncrypt: pairOperation('publicEncrypt', 'public'),
    privateDecrypt: pairOperation('privateDecrypt', 'private'),
    privateEncrypt: pairOperation('privateEncrypt', 'private'),
    publicDecrypt: pairOperation('publicDecrypt', 'public'),
  };
}

/** Throws for a name that is no digest of OpenSSL. */
function digestCheck(bridge: Bridge): (name: unknown) => string {
  let digests: ReadonlySet<string> | undefined;
  return (name) => {
    requireString('algorithm', name);
    digests ??= new Set(
      (askCryptoJson(bridge, { operation: 'lists' }) as { hashes: string[] }).hashes.map((hash) => plain(hash)),
    );
    if (!digests.has(plain(name as string))) throw nativeError('ERR_CRYPTO_INVALID_DIGEST', 'Invalid digest');
    return name as string;
  };
}

/** `RSA-SHA256`, `sha256` and `SHA-256` are one. */
function plain(digest: string): string {
  return digest
    .toLowerCase()
    .replace(/^rsa-/, '')
    .replace(/^sha-(?=\d)/, 'sha');
}

/** The function itself, or with one argument more its result by callback. */
export function withCallback(work: (...args: never[]) => unknown, callbackAt: number): unknown {
  return (...args: unknown[]): unknown => {
    const callback = args[callbackAt];
    const given = args.slice(0, callbackAt) as never[];
    if (typeof callback !== 'function') return work(...given);
    let [error, value]: [Error | null, unknown] = [null, undefined];
    try {
      value = work(...given);
    } catch (thrown) {
      error = thrown as Error;
    }
    setImmediate(callback as Callback, error, value);
    return undefined;
  };
}
