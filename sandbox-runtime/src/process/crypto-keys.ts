import * as crypto from 'node:crypto';
import { AskError } from './ask-error.ts';
import { refuseLargeKey, refuseLongKey } from './key-costs.ts';

/** A larger modulus takes seconds to make. */
const MAX_MODULUS_BITS = 4_096;
const PKCS8_BEGIN = /-----BEGIN (?:ENCRYPTED )?PRIVATE KEY/;
const PKCS8_PEM = /-----BEGIN (?:ENCRYPTED )?PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END/;
const CURVES = new Set(crypto.getCurves());

type Head = Record<string, unknown>;
type Half = 'private' | 'public';

/** A key as the guest keeps it: the standard binary form, and what is known of it. */
interface KeyFacts {
  der: string;
  type: Half;
  asymmetricKeyType: string | undefined;
  asymmetricKeyDetails: object | undefined;
}

/** The key of the guest's binary form; a private one also where its public half is asked for. */
export function keyFromDer(der: Uint8Array, half: Half): crypto.KeyObject {
  const key = Buffer.from(der);
  if (half === 'private') {
    refuseLargeKey(key);
    return crypto.createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  }
  try {
    return crypto.createPublicKey({ key, format: 'der', type: 'spki' });
  } catch {
    // It is a private key, which includes the public one.
    return crypto.createPublicKey({ key, format: 'der', type: 'pkcs8' } as unknown as crypto.PublicKeyInput);
  }
}

/** Reads PEM, DER or JWK; for a public key the private one of the pair does as well. */
export function parseKey(head: Head, key: Uint8Array): KeyFacts {
  const half: Half = head['half'] === 'public' ? 'public' : 'private';
  const parse = half === 'private' ? crypto.createPrivateKey : crypto.createPublicKey;
  const { format, type, passphrase } = head;
  if (format === 'jwk')
    return describe(parse({ key: JSON.parse(Buffer.from(key).toString()) as crypto.JsonWebKey, format: 'jwk' }));
  const input: Record<string, unknown> = { key: Buffer.from(key), format: format === 'der' ? 'der' : 'pem' };
  if (typeof type === 'string') input['type'] = type;
  if (typeof passphrase === 'string')
    Object.assign(input, openable(input), { passphrase: Buffer.from(passphrase, 'base64') });
  return describe(parse(input as unknown as crypto.PrivateKeyInput & crypto.PublicKeyInput));
}

/**
 * A key to be opened with a passphrase. The binary form of a PEM that may be encrypted as PKCS #8 is taken out of it here: what is read of it
 * before is then what OpenSSL opens. In the older form, which has headers, one round is made.
 */
function openable({ key, format }: { key?: unknown; format?: unknown }): Record<string, unknown> {
  const bytes = key as Buffer;
  const text = format === 'pem' ? bytes.toString('latin1') : '';
  if (!PKCS8_BEGIN.test(text)) {
    if (format === 'der') refuseLongKey(bytes);
    return {};
  }
  const base64 = PKCS8_PEM.exec(text)?.[1];
  if (base64 === undefined) throw new AskError('The PEM of the key cannot be read');
  const der = Buffer.from(base64, 'base64');
  refuseLongKey(der);
  return { key: der, format: 'der', type: 'pkcs8' };
}

function describe(key: crypto.KeyObject): KeyFacts {
  const type = key.type === 'private' ? 'private' : 'public';
  const form = type === 'private' ? 'pkcs8' : 'spki';
  const der = key.export({ format: 'der', type: form } as crypto.KeyExportOptions<'der'>);
  // Before its details: OpenSSL has no room for those of a large one, and says so to whoever uses it next.
  if (type === 'private') refuseLargeKey(der);
  const details = key.asymmetricKeyDetails;
  return {
    der: der.toString('base64'),
    type,
    asymmetricKeyType: key.asymmetricKeyType,
    asymmetricKeyDetails: details === undefined ? undefined : withoutBigInts(details),
  };
}

function withoutBigInts(details: object): object {
  const shown: [string, unknown][] = Object.entries(details).map(([name, value]) => [
    name,
    typeof value === 'bigint' ? Number(value) : value,
  ]);
  return Object.fromEntries(shown);
}

export function exportKey(head: Head, der: Uint8Array): Uint8Array {
  const half: Half = head['half'] === 'public' ? 'public' : 'private';
  const key = keyFromDer(der, half);
  const { format, type, cipher, passphrase } = head;
  if (format === 'jwk') return Buffer.from(JSON.stringify(key.export({ format: 'jwk' })));
  const options: Record<string, unknown> = {
    format: format === 'der' ? 'der' : 'pem',
    type: typeof type === 'string' ? type : half === 'private' ? 'pkcs8' : 'spki',
  };
  if (typeof cipher === 'string') options['cipher'] = cipher;
  if (typeof passphrase === 'string') options['passphrase'] = Buffer.from(passphrase, 'base64');
  const exported: unknown = key.export(options as unknown as crypto.KeyExportOptions<'pem'>);
  return typeof exported === 'string' ? Buffer.from(exported) : (exported as Buffer);
}

export function generateKeyPair(head: Head): { publicKey: KeyFacts; privateKey: KeyFacts } {
  const { publicKey, privateKey } = makePair(head);
  return { publicKey: describe(publicKey), privateKey: describe(privateKey) };
}

function makePair({ type, modulusLength, publicExponent, namedCurve }: Head): crypto.KeyPairKeyObjectResult {
  switch (type) {
    case 'rsa':
    case 'rsa-pss': {
      if (typeof modulusLength !== 'number' || modulusLength < 512 || modulusLength > MAX_MODULUS_BITS)
        throw new AskError(`modulusLength must be from 512 to ${MAX_MODULUS_BITS}`);
      const exponent = typeof publicExponent === 'number' ? { publicExponent } : {};
      return type === 'rsa'
        ? crypto.generateKeyPairSync('rsa', { modulusLength, ...exponent })
        : crypto.generateKeyPairSync('rsa-pss', { modulusLength, ...exponent });
    }
    case 'ec':
      if (typeof namedCurve !== 'string' || !(CURVES.has(namedCurve) || /^P-(256|384|521)$/.test(namedCurve)))
        throw new AskError('Invalid EC curve name');
      return crypto.generateKeyPairSync('ec', { namedCurve });
    case 'ed25519':
      return crypto.generateKeyPairSync('ed25519');
    case 'ed448':
      return crypto.generateKeyPairSync('ed448');
    case 'x25519':
      return crypto.generateKeyPairSync('x25519');
    case 'x448':
      return crypto.generateKeyPairSync('x448');
    default:
      throw new AskError('Keys of this type cannot be made in the sandbox');
  }
}
