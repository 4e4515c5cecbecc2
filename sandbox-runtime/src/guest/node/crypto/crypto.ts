import { NODE_FACTS } from '../node-facts.ts';
import type { Bridge } from '../../bridge.ts';
import { codedError, invalidArgument, nativeError, notAvailable, outOfRange } from '../errors.ts';
import { askCryptoJson, toBuffer } from './ask.ts';
import { makeCiphers } from './ciphers.ts';
import { makeDerivations } from './derivations.ts';
import { makeDigests } from './digests.ts';
import { makeKeyTools } from './key-object.ts';
import { makeSignatures, withCallback } from './signatures.ts';

const { cryptoConstants: CRYPTO_CONSTANTS } = NODE_FACTS;

const MAX_RANDOM_BYTES = 65_536;
/** Node's own maximum. */
const MOST_RANDOM_BYTES = 2 ** 31 - 1;
const MAX_RANDOM_TOTAL_BYTES = 16 * 1024 * 1024;
const NOT_THERE = [
  'X509Certificate',
  'createDiffieHellman',
  'createDiffieHellmanGroup',
  'getDiffieHellman',
  'generatePrime',
  'generatePrimeSync',
  'checkPrime',
  'checkPrimeSync',
  'argon2',
  'argon2Sync',
  'setEngine',
  'Certificate',
  'encapsulate',
  'decapsulate',
];

interface WebCrypto {
  subtle: unknown;
  randomUUID(): string;
  getRandomValues(target: unknown): unknown;
}

interface Lists {
  ciphers: string[];
  hashes: string[];
  curves: string[];
}

/**
 * `crypto`. All of the work is done by the process's own OpenSSL: no cryptography is written in
 * JavaScript here.
 */
export function makeCrypto(bridge: Bridge, webCrypto: WebCrypto): Record<string, unknown> {
  const keys = makeKeyTools(bridge);
  const { KeyObject, createSecretKey, createPrivateKey, createPublicKey } = keys;
  const lists = (): Lists => askCryptoJson(bridge, { operation: 'lists' }) as Lists;
  const refused = NOT_THERE.map(
    (name) =>
      [
        name,
        function refuse(): never {
          throw notAvailable(`crypto.${name}`);
        },
      ] as const,
  );
  const module: Record<string, unknown> = {
    constants: CRYPTO_CONSTANTS,
    ...makeDigests(bridge),
    ...makeCiphers(bridge),
    ...makeSignatures(bridge, keys),
    ...makeDerivations(bridge, keys),
    ...makeRandom(bridge),
    KeyObject,
    createSecretKey,
    createPrivateKey,
    createPublicKey,
    timingSafeEqual,
    randomUUID: (options?: { disableEntropyCache?: unknown }) => {
      const given = options?.disableEntropyCache;
      if (given !== undefined && typeof given !== 'boolean')
        throw invalidArgument('options.disableEntropyCache', 'of type boolean', given);
      return webCrypto.randomUUID();
    },
    getRandomValues: (target: unknown) => webCrypto.getRandomValues(target),
    getHashes: () => lists().hashes,
    getCiphers: () => lists().ciphers,
    getCurves: () => lists().curves,
    getFips: () => 0,
    setFips: () => undefined,
    webcrypto: webCrypto,
    subtle: webCrypto.subtle,
    ...Object.fromEntries(refused),
  };
  for (const name of Object.keys(module)) if (name.startsWith('create')) module[name] = constructible(module[name]);
  return module;
}

/**
 * Some call what makes a hash or a cipher with `new` (openpgp), which an arrow function does not
 * allow.
 */
function constructible(make: unknown): unknown {
  return function create(...args: unknown[]): unknown {
    return (make as (...given: unknown[]) => unknown)(...args);
  };
}

function makeRandom(bridge: Bridge): Record<string, unknown> {
  const fill = (target: Uint8Array): void => {
    for (let at = 0; at < target.length; at += MAX_RANDOM_BYTES)
      target.set(toBuffer(bridge.ask({ kind: 'random', bytes: Math.min(MAX_RANDOM_BYTES, target.length - at) })), at);
  };
  const randomBytes = (size: number): Buffer => {
    if (typeof size !== 'number') throw invalidArgument('size', 'of type number', size);
    if (!(size >= 0 && size <= MOST_RANDOM_BYTES)) throw outOfRange('size', `>= 0 && <= ${MOST_RANDOM_BYTES}`, size);
    if (!Number.isInteger(size) || size < 0 || size > MAX_RANDOM_TOTAL_BYTES)
      throw codedError(
        'ERR_OUT_OF_RANGE',
        `The value of "size" is out of range. It must be >= 0 && <= ${MAX_RANDOM_TOTAL_BYTES}. Received ${size}`,
        RangeError,
      );
    const bytes = Buffer.alloc(size);
    fill(bytes);
    return bytes;
  };
  const randomFillSync = (target: ArrayBufferView, offset = 0, size = target.byteLength - offset): ArrayBufferView => {
    fill(new Uint8Array(target.buffer, target.byteOffset + offset, size));
    return target;
  };
  const randomInt = (low: number, high?: number): number =>
    high === undefined ? uniform(randomBytes, 0, low) : uniform(randomBytes, low, high);
  return {
    randomBytes: withCallback(randomBytes, 1),
    pseudoRandomBytes: withCallback(randomBytes, 1),
    rng: randomBytes,
    prng: randomBytes,
    randomFillSync,
    randomFill: (target: ArrayBufferView, ...rest: unknown[]) => {
      const callback = rest.pop() as (error: null, filled: unknown) => void;
      setImmediate(callback, null, randomFillSync(target, ...(rest as number[])));
    },
    randomInt: (first: number, second?: unknown, third?: unknown) => {
      const callback = typeof second === 'function' ? second : third;
      const value = typeof second === 'number' ? randomInt(first, second) : randomInt(first);
      if (typeof callback !== 'function') return value;
      return void setImmediate(callback as (error: null, value: number) => void, null, value);
    },
  };
}

/** Uniform in [low, high): values of the last, incomplete range are thrown away. */
function uniform(randomBytes: (size: number) => Buffer, low: number, high: number): number {
  for (const [name, value] of [
    ['min', low],
    ['max', high],
  ] as const)
    if (!Number.isSafeInteger(value)) throw invalidArgument(name, 'a safe integer', value);
  const range = high - low;
  if (range <= 0) throw outOfRange('max', `greater than the value of "min" (${low})`, high);
  if (range > 2 ** 48 - 1) throw outOfRange('max - min', '<= 281474976710655', range);
  const limit = 2 ** 48 - (2 ** 48 % range);
  for (;;) {
    const value = randomBytes(6).readUIntBE(0, 6);
    if (value < limit) return low + (value % range);
  }
}

/** Constant time: it reads every byte, so the time reveals no content. */
function timingSafeEqual(first: ArrayBufferView | ArrayBuffer, second: ArrayBufferView | ArrayBuffer): boolean {
  const [a, b] = [first, second].map((value, index) => {
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    throw nativeError(
      'ERR_INVALID_ARG_TYPE',
      `The "buf${index + 1}" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView.`,
    );
  }) as [Uint8Array, Uint8Array];
  if (a.length !== b.length)
    throw nativeError(
      'ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH',
      'Input buffers must have the same byte length',
      RangeError,
    );
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= (a[i] as number) ^ (b[i] as number);
  return difference === 0;
}
