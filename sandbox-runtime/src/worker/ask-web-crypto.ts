import { KeyObject, webcrypto } from 'node:crypto';
import { types } from 'node:util';
import { platformLimit } from '@headwater/shared';
import { describeLimit } from '../bridge/exceeded-limit.ts';
import { readJwk, refuseCostlyJwk, refuseCostlyKey } from './key-costs.ts';
import { readHead } from './read-head.ts';

/*
 * The process's half of `crypto.subtle`. A call is JSON, with positions in one block of bytes
 * instead of buffers, and whole keys instead of CryptoKeys. Node's implementation validates the
 * arguments; this file limits a call's cost.
 */

/** Longest arguments without their bytes: a JSON Web Key is the largest. */
const MAX_HEAD_CHARS = 1024 * 1024;
const MAX_RSA_BITS = 4_096;
/** PBKDF2 iterations times derived blocks: some seconds. */
const MAX_ITERATIONS = 20_000_000;
const MAX_DERIVED_BITS = 65_536;
const MAX_SALT_BYTES = 64 * 1024;
const MIN_DERIVED_BITS = 512;
const SHORTEST_HASH_BITS = 160;
const MAX_MESSAGE_CHARS = 300;

const ALGORITHMS = new Set(
  [
    'SHA-1 SHA-256 SHA-384 SHA-512 HMAC AES-CBC AES-GCM AES-CTR AES-KW',
    'RSA-OAEP RSASSA-PKCS1-v1_5 RSA-PSS ECDSA ECDH Ed25519 X25519 PBKDF2 HKDF',
  ].flatMap((line) => line.toUpperCase().split(' ')),
);
const METHODS = [
  'digest',
  'encrypt',
  'decrypt',
  'sign',
  'verify',
  'generateKey',
  'importKey',
  'exportKey',
  'deriveBits',
  'deriveKey',
  'wrapKey',
  'unwrapKey',
] as const;

type Method = (typeof METHODS)[number];

/**
 * Arguments that may be bytes, and byte members of an algorithm or key. Bytes elsewhere would be
 * converted to a number, digit by digit.
 */
const BYTES_AT: Partial<Record<Method, readonly number[]>> = {
  digest: [1],
  encrypt: [2],
  decrypt: [2],
  sign: [2],
  verify: [2, 3],
  importKey: [1],
  unwrapKey: [1],
};
const BYTES_IN = new Set('iv additionalData counter label salt info context publicExponent material'.split(' '));

type Named = Record<string, unknown>;
type Algorithm = Named & { name: string };

interface KeyParts {
  type: 'secret' | 'public' | 'private';
  extractable: boolean;
  algorithm: Algorithm;
  usages: webcrypto.KeyUsage[];
  material: Uint8Array<ArrayBuffer>;
}

export interface WebCryptoAnswer {
  head: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Runs a guest's call of `crypto.subtle`. Never rejects: a failure is an answer with a name and a
 * message.
 */
export async function answerWebCrypto(head: string, bytes: Uint8Array): Promise<WebCryptoAnswer> {
  try {
    const limit = platformLimit('maxProcessedBytes', bytes.byteLength);
    if (limit.used > limit.value) throw refuse(describeLimit(limit));
    if (head.length > MAX_HEAD_CHARS) throw refuse('The arguments are too long');
    const { method, args } = readHead(head) as { method: unknown; args: unknown[] };
    const known = METHODS.find((name) => name === method);
    if (known === undefined || !Array.isArray(args)) throw refuse('This is not supported');
    const packed = new Packed();
    const unpacked = await Promise.all(args.map((arg) => unpack(arg, bytes)));
    if (unpacked.some((arg, at) => arg instanceof Uint8Array && BYTES_AT[known]?.includes(at) !== true))
      throw noBytes();
    const value = await invoke(known, unpacked);
    return { head: JSON.stringify({ ok: true, value: packed.place(value) }), bytes: packed.bytes() };
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error('The operation failed');
    const shown = name === 'Error' ? 'OperationError' : name;
    const failure = { ok: false, name: shown, message: message.slice(0, MAX_MESSAGE_CHARS) };
    return { head: JSON.stringify(failure), bytes: new Uint8Array(0) };
  }
}

async function invoke(method: Method, args: unknown[]): Promise<unknown> {
  checkCost(args.filter((arg) => typeof arg === 'object' && arg !== null && 'name' in arg) as Named[], args);
  if (method === 'unwrapKey') return await unwrapKey(args);
  if (method === 'importKey') return await importKey(args);
  const run = webcrypto.subtle[method] as (...given: unknown[]) => Promise<unknown>;
  return await run.apply(webcrypto.subtle, args);
}

type ImportArguments = Parameters<typeof webcrypto.subtle.importKey>;

/** Every key comes in through this. */
async function importKey(args: unknown[]): Promise<webcrypto.CryptoKey> {
  const [format, material] = args;
  // Web Crypto would convert a list with one text to that text, so check the type first.
  if (typeof format !== 'string') throw new TypeError('The format must be text');
  if (format === 'jwk') judge(() => refuseCostlyJwk(material));
  else if (format === 'pkcs8' || format === 'spki') {
    if (!(material instanceof Uint8Array)) throw new TypeError('The key must be bytes');
    judge(() => refuseCostlyKey(Buffer.from(material)));
  }
  return await webcrypto.subtle.importKey(...(args as unknown as ImportArguments));
}

/** Turns a key error into a DataError, as the standard requires. */
function judge<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new DOMException((error as Error).message, 'DataError');
  }
}

const BYTES = { name: 'HMAC', hash: 'SHA-256' };

/**
 * First to bytes, as if they were a key that may be any bytes, so that they are judged before they
 * are read.
 */
async function unwrapKey(args: unknown[]): Promise<webcrypto.CryptoKey> {
  const [format, wrapped, unwrappingKey, algorithm, ...imported] = args;
  const given = ['raw', wrapped, unwrappingKey, algorithm, BYTES, true, ['sign']];
  const secret = await webcrypto.subtle.unwrapKey(...(given as Parameters<typeof webcrypto.subtle.unwrapKey>));
  const bytes = new Uint8Array(await webcrypto.subtle.exportKey('raw', secret));
  return await importKey([format, format === 'jwk' ? judge(() => readJwk(bytes)) : bytes, ...imported]);
}

/**
 * Refuses calls that cost much time or memory. Lengths are in bits, for new keys and for derived
 * bits.
 */
function checkCost(algorithms: readonly Named[], args: readonly unknown[]): void {
  const given = [...args, ...algorithms.map((algorithm) => algorithm['length'])];
  const lengths = given
    .filter((value) => !(value instanceof Uint8Array))
    .map(Number)
    .filter(Number.isFinite);
  const bits = Math.max(MIN_DERIVED_BITS, ...lengths);
  if (bits > MAX_DERIVED_BITS) throw refuse(`At most ${MAX_DERIVED_BITS} bits can be made or derived at once`);
  for (const { name, modulusLength, iterations, salt } of algorithms) {
    if (!ALGORITHMS.has(String(name).toUpperCase()))
      throw new DOMException(`The algorithm '${String(name).slice(0, 50)}' is not supported`, 'NotSupportedError');
    // Each block that is derived hashes it once more.
    if (/^pbkdf2$/i.test(String(name)) && salt instanceof Uint8Array && salt.byteLength > MAX_SALT_BYTES)
      throw refuse(`A salt may have at most ${MAX_SALT_BYTES} bytes here`);
    if (Number(modulusLength) > MAX_RSA_BITS) throw refuse(`RSA keys have at most ${MAX_RSA_BITS} bits here`);
    if (Number(iterations) * Math.ceil(bits / SHORTEST_HASH_BITS) > MAX_ITERATIONS)
      throw refuse(`At most ${MAX_ITERATIONS} iterations can be done at once, for all blocks together`);
  }
}

const noBytes = () => new TypeError('Unexpected bytes');

function refuse(message: string): DOMException {
  return new DOMException(message, 'OperationError');
}

async function unpack(value: unknown, bytes: Uint8Array): Promise<unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const { bytes: place, key } = value as { bytes?: [number, number]; key?: object };
  if (Array.isArray(place)) return bytes.subarray(place[0], place[0] + place[1]);
  if (key !== undefined) return await rebuildKey((await unpackMembers(key, bytes)) as unknown as KeyParts);
  return await unpackMembers(value, bytes);
}

async function unpackMembers(value: object, bytes: Uint8Array): Promise<Record<string, unknown>> {
  const members = Object.entries(value).map(async ([name, member]) => {
    const unpacked = await unpack(member, bytes);
    if (unpacked instanceof Uint8Array && !BYTES_IN.has(name)) throw noBytes();
    return [name, unpacked] as const;
  });
  return Object.fromEntries(await Promise.all(members));
}

const FORMATS = { secret: 'raw', public: 'spki', private: 'pkcs8' } as const;

async function rebuildKey({ type, extractable, algorithm, usages, material }: KeyParts): Promise<webcrypto.CryptoKey> {
  return await importKey([FORMATS[type], material, algorithm, extractable, usages]);
}

function takeApart(key: webcrypto.CryptoKey): KeyParts {
  const { type, extractable, algorithm, usages } = key;
  const object = KeyObject.from(key);
  const material =
    type === 'secret'
      ? object.export()
      : object.export(type === 'public' ? { format: 'der', type: 'spki' } : { format: 'der', type: 'pkcs8' });
  return {
    type,
    extractable,
    algorithm: algorithm as unknown as Algorithm,
    usages,
    material: new Uint8Array(material),
  };
}

class Packed {
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  place(value: unknown): unknown {
    if (value instanceof ArrayBuffer) return this.#placeBytes(new Uint8Array(value));
    if (value instanceof Uint8Array) return this.#placeBytes(value);
    if (types.isCryptoKey(value)) return { key: this.#placeMembers(takeApart(value)) };
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return this.#placeMembers(value);
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(Buffer.concat(this.#chunks));
  }

  #placeBytes(bytes: Uint8Array): { bytes: [number, number] } {
    const at = this.#length;
    this.#chunks.push(bytes);
    this.#length += bytes.length;
    return { bytes: [at, bytes.length] };
  }

  #placeMembers(value: object): Record<string, unknown> {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.place(member)]));
  }
}
