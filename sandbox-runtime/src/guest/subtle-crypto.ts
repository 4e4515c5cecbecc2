import { GuestCryptoKey, type KeyParts, keyParts, makeKey } from './crypto-key.ts';
import { joinBytes } from './blob.ts';
import { parseJson, stringifyOwn, toText } from './intrinsics.ts';
import { asInterface, requireArguments } from './web-idl.ts';

/** Asks the process: the head's JSON and the bytes that it points into, there and back. */
export type SubtleCall = (head: string, bytes: Uint8Array<ArrayBuffer>) => Promise<{ head: string; bytes: Uint8Array }>;

const MAKE = Symbol('make');

const ALGORITHM_MEMBERS = [
  'name',
  'hash',
  'iv',
  'counter',
  'length',
  'label',
  'additionalData',
  'tagLength',
  'saltLength',
  'salt',
  'info',
  'iterations',
  'namedCurve',
  'modulusLength',
  'publicExponent',
  'public',
  'context',
];
const JWK_MEMBERS = 'kty use key_ops alg ext crv x y d n e p q dp dq qi oth k'.split(' ');

type Algorithm = string | { name: string };

/**
 * `SubtleCrypto`. Arguments are copied when a method is called; the work is done outside, one call
 * after the other.
 */
export class GuestSubtleCrypto {
  readonly #call: SubtleCall;

  constructor(token?: unknown, call?: SubtleCall) {
    if (token !== MAKE || call === undefined) throw new TypeError('Illegal constructor');
    this.#call = call;
  }

  async digest(algorithm: Algorithm, data: ArrayBuffer | ArrayBufferView): Promise<unknown> {
    requireArguments(2, arguments.length, 'digest');
    return this.#ask('digest', [packAlgorithm(algorithm), packData(data)]);
  }

  async encrypt(algorithm: Algorithm, key: GuestCryptoKey, data: ArrayBuffer | ArrayBufferView): Promise<unknown> {
    requireArguments(3, arguments.length, 'encrypt');
    return this.#ask('encrypt', [packAlgorithm(algorithm), packKey(key), packData(data)]);
  }

  async decrypt(algorithm: Algorithm, key: GuestCryptoKey, data: ArrayBuffer | ArrayBufferView): Promise<unknown> {
    requireArguments(3, arguments.length, 'decrypt');
    return this.#ask('decrypt', [packAlgorithm(algorithm), packKey(key), packData(data)]);
  }

  async sign(algorithm: Algorithm, key: GuestCryptoKey, data: ArrayBuffer | ArrayBufferView): Promise<unknown> {
    requireArguments(3, arguments.length, 'sign');
    return this.#ask('sign', [packAlgorithm(algorithm), packKey(key), packData(data)]);
  }

  async verify(
    algorithm: Algorithm,
    key: GuestCryptoKey,
    signature: ArrayBuffer | ArrayBufferView,
    data: ArrayBuffer | ArrayBufferView,
  ): Promise<unknown> {
    requireArguments(4, arguments.length, 'verify');
    return this.#ask('verify', [packAlgorithm(algorithm), packKey(key), packData(signature), packData(data)]);
  }

  async generateKey(algorithm: Algorithm, extractable: unknown, usages: string[]): Promise<unknown> {
    requireArguments(3, arguments.length, 'generateKey');
    return this.#ask('generateKey', [packAlgorithm(algorithm), Boolean(extractable), packUsages(usages)]);
  }

  async importKey(
    format: string,
    data: unknown,
    algorithm: Algorithm,
    extractable: unknown,
    usages: string[],
  ): Promise<unknown> {
    requireArguments(5, arguments.length, 'importKey');
    const material = toText(format) === 'jwk' ? packJwk(data) : packData(data);
    return this.#ask('importKey', [
      toText(format),
      material,
      packAlgorithm(algorithm),
      Boolean(extractable),
      packUsages(usages),
    ]);
  }

  async exportKey(format: string, key: GuestCryptoKey): Promise<unknown> {
    requireArguments(2, arguments.length, 'exportKey');
    return this.#ask('exportKey', [toText(format), packKey(key)]);
  }

  async deriveBits(algorithm: Algorithm, key: GuestCryptoKey, length: unknown = null): Promise<unknown> {
    requireArguments(2, arguments.length, 'deriveBits');
    const bits = length === null || length === undefined ? null : Number(length) >>> 0;
    return this.#ask('deriveBits', [packAlgorithm(algorithm), packKey(key), bits]);
  }

  async deriveKey(
    algorithm: Algorithm,
    key: GuestCryptoKey,
    derived: Algorithm,
    extractable: unknown,
    usages: string[],
  ): Promise<unknown> {
    requireArguments(5, arguments.length, 'deriveKey');
    return this.#ask('deriveKey', [
      packAlgorithm(algorithm),
      packKey(key),
      packAlgorithm(derived),
      Boolean(extractable),
      packUsages(usages),
    ]);
  }

  async wrapKey(
    format: string,
    key: GuestCryptoKey,
    wrappingKey: GuestCryptoKey,
    algorithm: Algorithm,
  ): Promise<unknown> {
    requireArguments(4, arguments.length, 'wrapKey');
    return this.#ask('wrapKey', [toText(format), packKey(key), packKey(wrappingKey), packAlgorithm(algorithm)]);
  }

  async unwrapKey(
    format: string,
    wrapped: ArrayBuffer | ArrayBufferView,
    unwrappingKey: GuestCryptoKey,
    algorithm: Algorithm,
    keyAlgorithm: Algorithm,
    extractable: unknown,
    usages: string[],
  ): Promise<unknown> {
    requireArguments(7, arguments.length, 'unwrapKey');
    return this.#ask('unwrapKey', [
      toText(format),
      packData(wrapped),
      packKey(unwrappingKey),
      packAlgorithm(algorithm),
      packAlgorithm(keyAlgorithm),
      Boolean(extractable),
      packUsages(usages),
    ]);
  }

  /** The one instance of an isolate. */
  static readonly connect = (call: SubtleCall): GuestSubtleCrypto => new GuestSubtleCrypto(MAKE, call);

  async #ask(method: string, args: unknown[]): Promise<unknown> {
    const packed = new Packed();
    const head = stringifyOwn({ method, args: args.map((arg) => packed.place(arg)) });
    const answer = await this.#call(head, packed.bytes());
    return readAnswer(answer.head, answer.bytes);
  }
}
asInterface(GuestSubtleCrypto, 'SubtleCrypto');

/** Bytes of arguments, one after the other; in the head stands where each of them is. */
class Packed {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  place(value: unknown): unknown {
    if (value instanceof Uint8Array) {
      this.#chunks.push(value);
      const at = this.#length;
      this.#length += value.length;
      return { bytes: [at, value.length] };
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    const placed: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) placed[name] = this.place(member);
    return placed;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return joinBytes(this.#chunks);
  }
}

function packData(data: unknown): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data.slice(0));
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength).slice();
  throw new TypeError('The data must be an ArrayBuffer or a view of one');
}

function packKey(key: unknown): { key: KeyParts } {
  if (!(key instanceof GuestCryptoKey)) throw new TypeError('The key must be a CryptoKey');
  return { key: keyParts(key) };
}

function packUsages(usages: unknown): string[] {
  if (typeof usages !== 'object' || usages === null) throw new TypeError('The usages must be a list');
  return Array.from(usages as Iterable<unknown>, toText);
}

function packAlgorithm(algorithm: unknown): unknown {
  if (typeof algorithm !== 'object' || algorithm === null) return { name: toText(algorithm) };
  const packed: Record<string, unknown> = {};
  for (const name of ALGORITHM_MEMBERS) {
    const value = (algorithm as Record<string, unknown>)[name];
    if (value === undefined) continue;
    packed[name] = packMember(name, value);
  }
  if (packed['name'] === undefined) throw new TypeError('The algorithm has no name');
  return packed;
}

function packMember(name: string, value: unknown): unknown {
  if (name === 'hash') return packAlgorithm(value);
  if (value instanceof GuestCryptoKey) return packKey(value);
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return packData(value);
  return typeof value === 'number' || typeof value === 'boolean' ? value : toText(value);
}

function packJwk(jwk: unknown): Record<string, unknown> {
  if (typeof jwk !== 'object' || jwk === null || jwk instanceof ArrayBuffer || ArrayBuffer.isView(jwk))
    throw new TypeError('A JSON Web Key must be an object');
  const packed: Record<string, unknown> = {};
  for (const name of JWK_MEMBERS) {
    const value = (jwk as Record<string, unknown>)[name];
    if (value === undefined) continue;
    packed[name] = name === 'key_ops' ? packUsages(value) : name === 'ext' ? Boolean(value) : toText(value);
  }
  return packed;
}

type Answer = { ok: true; value: unknown } | { ok: false; name: string; message: string };

function readAnswer(head: string, bytes: Uint8Array): unknown {
  const answer = parseJson(head) as Answer;
  if (answer.ok) return unpack(answer.value, bytes, true);
  throw answer.name === 'TypeError' ? new TypeError(answer.message) : new DOMException(answer.message, answer.name);
}

/** Bytes in a result are ArrayBuffers; bytes in a key are Uint8Arrays. */
function unpack(value: unknown, bytes: Uint8Array, outside: boolean): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { bytes: place, key } = value as { bytes?: [number, number]; key?: object };
  if (Array.isArray(place)) {
    const part = bytes.slice(place[0], place[0] + place[1]);
    return outside ? part.buffer : part;
  }
  if (key !== undefined) return makeKey(unpack(key, bytes, false) as KeyParts);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, unpack(member, bytes, outside)]));
}
