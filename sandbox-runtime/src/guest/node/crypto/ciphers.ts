import type { Bridge } from '../../bridge.ts';
import { joinBytes } from '../../blob.ts';
import { codedError, nativeError, requireString } from '../errors.ts';
import { Transform } from '../stream.ts';
import { askCrypto, askCryptoJson, base64Of, bytesOf, encodeBytes, secretBytesOf } from './ask.ts';
import { KeyObject } from './key-object.ts';

interface CipherInfo {
  mode: string;
  name: string;
  keyLength: number;
  ivLength?: number;
}

interface CipherOptions {
  authTagLength?: number;
}

/**
 * Cipheriv and Decipheriv. The process keeps no state between calls. So each `update` runs the
 * cipher over all input so far and returns the new output, at the same calls as in Node.
 */
class LazyTransform extends Transform {
  readonly #bridge: Bridge;
  readonly #head: Record<string, unknown>;
  readonly #key: Uint8Array<ArrayBuffer>;
  readonly #chunks: Uint8Array[] = [];
  #givenBytes = 0;
  #authTag: Buffer | undefined;
  #done = false;

  constructor(bridge: Bridge, decrypts: boolean, name: string, key: unknown, iv: unknown, options: CipherOptions = {}) {
    super();
    this.#bridge = bridge;
    requireString('cipher', name);
    const info = askCryptoJson(bridge, { operation: 'cipherInfo', name }) as CipherInfo | null;
    if (info === null) throw nativeError('ERR_CRYPTO_UNKNOWN_CIPHER', 'Unknown cipher');
    this.#key =
      key instanceof KeyObject
        ? key.bytes()
        : secretBytesOf('key', key, undefined, 'DataView, KeyObject, or CryptoKey');
    const ivBytes = iv === null ? undefined : secretBytesOf('iv', iv);
    if (this.#key.length !== info.keyLength)
      throw nativeError('ERR_CRYPTO_INVALID_KEYLEN', 'Invalid key length', RangeError);
    if (
      info.ivLength !== undefined &&
      (ivBytes === undefined || (ivBytes.length !== info.ivLength && !/gcm|ccm|ocb/.test(info.mode)))
    )
      throw nativeError('ERR_CRYPTO_INVALID_IV', 'Invalid initialization vector', TypeError);
    const { authTagLength } = options;
    this.#head = {
      operation: 'cipher',
      decrypts,
      name,
      iv: ivBytes === undefined ? null : base64Of(ivBytes),
      ...(authTagLength === undefined ? {} : { authTagLength }),
    };
  }

  update(data: unknown, inputEncoding?: unknown, outputEncoding?: unknown): string | Buffer {
    if (this.#done) throw codedError('ERR_CRYPTO_INVALID_STATE', 'Invalid state for operation update');
    this.#chunks.push(bytesOf(data, inputEncoding));
    return encodeBytes(this.#run(false), outputEncoding);
  }

  final(outputEncoding?: unknown): string | Buffer {
    if (this.#done) throw nativeError('ERR_CRYPTO_INVALID_STATE', 'Invalid state');
    const rest = this.#run(true);
    this.#done = true;
    return encodeBytes(rest, outputEncoding);
  }

  setAutoPadding(on = true): this {
    this.#head['autoPadding'] = on;
    return this;
  }

  setAAD(data: unknown): this {
    this.#head['aad'] = base64Of(data);
    return this;
  }

  setAuthTag(tag: unknown, encoding?: unknown): this {
    this.#head['authTag'] = base64Of(tag, encoding);
    return this;
  }

  getAuthTag(): Buffer {
    if (this.#authTag === undefined)
      throw codedError('ERR_CRYPTO_INVALID_STATE', 'Invalid state for operation getAuthTag');
    return this.#authTag;
  }

  override _transform(chunk: Buffer, _encoding: string, callback: (error: Error | null, data?: unknown) => void): void {
    answer(() => this.update(chunk), callback);
  }

  override _flush(callback: (error: Error | null, data?: unknown) => void): void {
    answer(() => this.final(), callback);
  }

  #run(final: boolean): Buffer {
    const answered = askCrypto(this.#bridge, { ...this.#head, final }, joinBytes(this.#chunks), this.#key);
    const tagBytes = answered[0] ?? 0;
    if (tagBytes > 0) this.#authTag = Buffer.from(answered.subarray(1, 1 + tagBytes));
    const output = answered.subarray(1 + tagBytes);
    const fresh = Buffer.from(output.subarray(this.#givenBytes));
    this.#givenBytes = output.length;
    return fresh;
  }
}

function answer(work: () => unknown, callback: (error: Error | null, data?: unknown) => void): void {
  let result: unknown;
  try {
    result = work();
  } catch (error) {
    return callback(error as Error);
  }
  callback(null, result);
}

class Cipheriv extends LazyTransform {}
class Decipheriv extends LazyTransform {}

export function makeCiphers(bridge: Bridge): Record<string, unknown> {
  return {
    Cipheriv,
    Decipheriv,
    createCipheriv: (name: string, key: unknown, iv: unknown, options?: CipherOptions) =>
      new Cipheriv(bridge, false, name, key, iv, options),
    createDecipheriv: (name: string, key: unknown, iv: unknown, options?: CipherOptions) =>
      new Decipheriv(bridge, true, name, key, iv, options),
    getCipherInfo: (name: string) =>
      (askCryptoJson(bridge, { operation: 'cipherInfo', name }) as CipherInfo | null) ?? undefined,
  };
}
