import type { Bridge } from '../../bridge.ts';
import { codedError } from '../errors.ts';
import { askCrypto, askCryptoJson, base64Of, bytesOf, secretBytesOf } from './ask.ts';

type Half = 'private' | 'public';

export interface KeyFacts {
  der: string;
  type: Half;
  asymmetricKeyType?: string;
  asymmetricKeyDetails?: object;
}

/**
 * Keys of a bridge; each holds its own bytes, as it would in any program: the isolate is what keeps
 * them apart.
 */
export interface KeyTools {
  KeyObject: typeof KeyObject;
  createSecretKey(key: unknown, encoding?: unknown): KeyObject;
  createPrivateKey(key: unknown): KeyObject;
  createPublicKey(key: unknown): KeyObject;
  fromFacts(facts: KeyFacts): KeyObject;
  /** The DER form of any key that sign, verify, encrypt and decrypt accept. */
  derOf(key: unknown, half: Half): Uint8Array<ArrayBuffer>;
}

export class KeyObject {
  readonly type: 'secret' | Half;
  readonly asymmetricKeyType: string | undefined;
  readonly asymmetricKeyDetails: object | undefined;
  readonly #bridge: Bridge;
  readonly #bytes: Uint8Array<ArrayBuffer>;

  constructor(bridge: Bridge, type: 'secret' | Half, bytes: Uint8Array<ArrayBuffer>, facts?: KeyFacts) {
    this.type = type;
    this.#bridge = bridge;
    this.#bytes = bytes;
    this.asymmetricKeyType = facts?.asymmetricKeyType;
    this.asymmetricKeyDetails = facts?.asymmetricKeyDetails;
  }

  get symmetricKeySize(): number | undefined {
    return this.type === 'secret' ? this.#bytes.length : undefined;
  }

  get [Symbol.toStringTag](): string {
    return 'KeyObject';
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  export(options: { format?: string; type?: string; cipher?: string; passphrase?: unknown } = {}): unknown {
    const { format } = options;
    if (this.type === 'secret') {
      const bytes = Buffer.from(this.#bytes);
      return format === 'jwk' ? { kty: 'oct', k: bytes.toString('base64url') } : bytes;
    }
    const { passphrase, ...rest } = options;
    const locked = passphrase === undefined ? {} : { passphrase: base64Of(passphrase) };
    const exported = askCrypto(
      this.#bridge,
      { operation: 'exportKey', half: this.type, ...rest, ...locked },
      undefined,
      this.#bytes,
    );
    if (format === 'jwk') return JSON.parse(exported.toString()) as unknown;
    return format === 'der' ? exported : exported.toString();
  }

  equals(other: unknown): boolean {
    return (
      other instanceof KeyObject &&
      other.type === this.type &&
      Buffer.from(this.#bytes).equals(Buffer.from(other.bytes()))
    );
  }
}

class SecretKeyObject extends KeyObject {}
class PublicKeyObject extends KeyObject {}
class PrivateKeyObject extends KeyObject {}

export function makeKeyTools(bridge: Bridge): KeyTools {
  const fromFacts = (facts: KeyFacts): KeyObject =>
    new (facts.type === 'public' ? PublicKeyObject : PrivateKeyObject)(
      bridge,
      facts.type,
      bytesOf(facts.der, 'base64'),
      facts,
    );
  const parse = (half: Half, key: unknown): KeyObject => {
    if (key instanceof KeyObject) {
      if (key.type === half) return key;
      if (half === 'private' || key.type === 'secret')
        throw codedError(
          'ERR_CRYPTO_INVALID_KEY_OBJECT_TYPE',
          `Invalid key object type ${key.type}, expected ${half}.`,
          TypeError,
        );
      return parse('public', { key: key.export({ format: 'pem', type: 'pkcs8' }) });
    }
    const given = isOptions(key) ? key : { key };
    if (given.key instanceof KeyObject) return parse(half, given.key);
    const isJwk = given.format === 'jwk';
    const passphrase = given.passphrase === undefined ? {} : { passphrase: base64Of(given.passphrase) };
    const format = isJwk ? 'jwk' : (given.format ?? 'pem');
    const head = {
      operation: 'parseKey',
      half,
      format,
      ...(given.type === undefined ? {} : { type: given.type }),
      ...passphrase,
    };
    const material = isJwk
      ? bytesOf(JSON.stringify(given.key))
      : secretBytesOf('key', given.key, given.encoding, 'DataView, or URL');
    return fromFacts(askCryptoJson(bridge, head, material) as KeyFacts);
  };
  return {
    KeyObject,
    fromFacts,
    createSecretKey: (key, encoding) =>
      new SecretKeyObject(
        bridge,
        'secret',
        bytesOf(key, encoding, 'key', 'an instance of ArrayBuffer, Buffer, TypedArray, or DataView'),
      ),
    createPrivateKey: (key) => parse('private', key),
    createPublicKey: (key) => parse('public', key),
    derOf: (key, half) => parse(half, key).bytes(),
  };
}

interface KeyInput {
  key: unknown;
  format?: string;
  type?: string;
  passphrase?: unknown;
  encoding?: unknown;
}

function isOptions(key: unknown): key is KeyInput {
  return (
    typeof key === 'object' && key !== null && !ArrayBuffer.isView(key) && !(key instanceof ArrayBuffer) && 'key' in key
  );
}
