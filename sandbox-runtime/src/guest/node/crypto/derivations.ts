import type { Bridge } from '../../bridge.ts';
import { codedError, outOfRange, received, requireString } from '../errors.ts';
import { askCrypto, askCryptoJson, base64Of, bytesOf, secretBytesOf } from './ask.ts';
import { type KeyFacts, KeyObject, type KeyTools } from './key-object.ts';

type Callback = (error: Error | null, ...values: unknown[]) => void;
type Work = (...args: never[]) => unknown;

interface ScryptOptions {
  cost?: number;
  N?: number;
  blockSize?: number;
  r?: number;
  parallelization?: number;
  p?: number;
  maxmem?: number;
}

interface PairOptions {
  modulusLength?: number;
  publicExponent?: number;
  namedCurve?: string;
  publicKeyEncoding?: { format?: string };
  privateKeyEncoding?: { format?: string };
}

/** The last argument is the callback, and the work is done before it is called. */
function later(work: Work, spread = false): (...args: unknown[]) => void {
  return (...args) => {
    const callback = args.at(-1) as Callback;
    if (typeof callback !== 'function')
      throw codedError(
        'ERR_INVALID_ARG_TYPE',
        'The "callback" argument must be of type function. Received undefined',
        TypeError,
      );
    let values: unknown[] = [];
    let error: Error | null = null;
    try {
      const result = work(...(args.slice(0, -1) as never[]));
      values = spread ? Object.values(result as object) : [result];
    } catch (thrown) {
      error = thrown as Error;
    }
    setImmediate(callback, error, ...values);
  };
}

/** Keys from passwords and from nothing: pbkdf2, scrypt, hkdf, key pairs, ECDH. */
export function makeDerivations(bridge: Bridge, keys: KeyTools): Record<string, unknown> {
  const secretOf = (value: unknown): Uint8Array<ArrayBuffer> =>
    value instanceof KeyObject ? value.bytes() : secretBytesOf('password', value);
  const pbkdf2Sync = (
    password: unknown,
    salt: unknown,
    iterations: number,
    keyBytes: number,
    digest: unknown,
  ): Buffer => {
    requireString('digest', digest);
    if (iterations < 1) throw outOfRange('iterations', '>= 1 && <= 2147483647', iterations);
    const head = { operation: 'pbkdf2', iterations, keyBytes, digest };
    return askCrypto(bridge, head, secretOf(password), secretOf(salt));
  };
  const scryptSync = (password: unknown, salt: unknown, keyBytes: number, options: ScryptOptions = {}): Buffer => {
    const {
      cost = options.N ?? 16_384,
      blockSize = options.r ?? 8,
      parallelization = options.p ?? 1,
      maxmem = 2 ** 25,
    } = options;
    const head = { operation: 'scrypt', keyBytes, cost, blockSize, parallelization, maxBytes: maxmem };
    return askCrypto(bridge, head, secretOf(password), secretOf(salt));
  };
  const hkdfSync = (digest: unknown, key: unknown, salt: unknown, info: unknown, keyBytes: number): ArrayBuffer => {
    const head = { operation: 'hkdf', digest, keyBytes, info: base64Of(info) };
    return new Uint8Array(askCrypto(bridge, head, secretOf(key), secretOf(salt))).buffer;
  };
  const generateKeySync = (_type: string, { length }: { length: number }): KeyObject =>
    keys.createSecretKey(crypto.getRandomValues(new Uint8Array(Math.floor(length / 8))));
  return {
    pbkdf2Sync,
    pbkdf2: later(pbkdf2Sync),
    scryptSync,
    scrypt: later(scryptSync),
    hkdfSync,
    hkdf: later(hkdfSync),
    generateKeySync,
    generateKey: later(generateKeySync),
    diffieHellman: ({ privateKey, publicKey }: { privateKey: unknown; publicKey: unknown }) =>
      askCrypto(
        bridge,
        { operation: 'diffieHellman' },
        keys.derOf(privateKey, 'private'),
        keys.derOf(publicKey, 'public'),
      ),
    ...makeKeyPairs(bridge, keys),
    ...makeEcdh(bridge),
  };
}

const KEY_TYPES = ['rsa', 'rsa-pss', 'dsa', 'ec', 'ed25519', 'ed448', 'x25519', 'x448', 'dh'];

function makeKeyPairs(bridge: Bridge, keys: KeyTools): Record<string, unknown> {
  const generateKeyPairSync = (
    type: string,
    options: PairOptions = {},
  ): { publicKey: unknown; privateKey: unknown } => {
    const { modulusLength, publicExponent, namedCurve, publicKeyEncoding, privateKeyEncoding } = options;
    if (!KEY_TYPES.includes(type))
      throw codedError(
        'ERR_INVALID_ARG_VALUE',
        `The argument 'type' must be a supported key type. Received ${received(type).replace(/^type string \((.*)\)$/, '$1')}`,
      );
    const head = { operation: 'generateKeyPair', type, modulusLength, publicExponent, namedCurve };
    const pair = askCryptoJson(bridge, head) as { publicKey: KeyFacts; privateKey: KeyFacts };
    const shape = (facts: KeyFacts, encoding: { format?: string } | undefined): unknown => {
      const key = keys.fromFacts(facts);
      return encoding === undefined ? key : key.export(encoding);
    };
    return {
      publicKey: shape(pair.publicKey, publicKeyEncoding),
      privateKey: shape(pair.privateKey, privateKeyEncoding),
    };
  };
  return {
    generateKeyPairSync,
    generateKeyPair: Object.assign(later(generateKeyPairSync, true), promisified(generateKeyPairSync)),
  };
}

/** Two results need a promise of their own: `promisify` would keep the first one alone. */
function promisified(work: Work): object {
  return { [Symbol.for('nodejs.util.promisify.custom')]: async (...args: never[]) => work(...args) };
}

interface EcdhKeys {
  privateKey: string;
  publicKey: string;
}

function makeEcdh(bridge: Bridge): Record<string, unknown> {
  class ECDH {
    readonly #curve: string;
    #keys: EcdhKeys | undefined;

    constructor(curve: string) {
      this.#curve = curve;
    }

    generateKeys(encoding?: BufferEncoding): string | Buffer {
      this.#keys = askCryptoJson(bridge, { operation: 'ecdhKeys', curve: this.#curve }) as EcdhKeys;
      return this.getPublicKey(encoding);
    }

    setPrivateKey(key: unknown, encoding?: unknown): void {
      const privateKey = base64Of(key, encoding);
      this.#keys = askCryptoJson(bridge, { operation: 'ecdhKeys', curve: this.#curve, privateKey }) as EcdhKeys;
    }

    computeSecret(other: unknown, inputEncoding?: unknown, outputEncoding?: BufferEncoding): string | Buffer {
      const head = { operation: 'ecdhSecret', curve: this.#curve };
      const secret = askCrypto(bridge, head, bytesOf(this.#own().privateKey, 'base64'), bytesOf(other, inputEncoding));
      return outputEncoding === undefined ? secret : secret.toString(outputEncoding);
    }

    getPublicKey(encoding?: BufferEncoding): string | Buffer {
      return this.#show(this.#own().publicKey, encoding);
    }

    getPrivateKey(encoding?: BufferEncoding): string | Buffer {
      return this.#show(this.#own().privateKey, encoding);
    }

    #own(): EcdhKeys {
      if (this.#keys === undefined)
        throw codedError('ERR_CRYPTO_ECDH_INVALID_PUBLIC_KEY', 'Failed to get ECDH public key');
      return this.#keys;
    }

    #show(key: string, encoding: BufferEncoding | undefined): string | Buffer {
      const bytes = Buffer.from(key, 'base64');
      return encoding === undefined ? bytes : bytes.toString(encoding);
    }
  }
  return { ECDH, createECDH: (curve: string) => new ECDH(curve) };
}
