import * as crypto from 'node:crypto';
import { AskError } from './ask-error.ts';
import { readJwk, refuseCostlyKey } from './key-costs.ts';
import { readPem } from './key-pem.ts';
import { openPkcs8 } from './open-key.ts';

/** A larger modulus takes seconds to make. */
const MAX_MODULUS_BITS = 4_096;
const CURVES = new Set(crypto.getCurves());

type Head = Record<string, unknown>;
type Half = 'private' | 'public';

/** A key as the guest keeps it: its DER form and its known properties. */
interface KeyFacts {
  der: string;
  type: Half;
  asymmetricKeyType: string | undefined;
  asymmetricKeyDetails: object | undefined;
}

/** The key of the guest's binary form; a private one also where its public half is asked for. */
export function keyFromDer(der: Uint8Array, half: Half): crypto.KeyObject {
  const key = Buffer.from(der);
  const form = refuseCostlyKey(key);
  if (half === 'private') return crypto.createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  const type = form === 'spki' ? 'spki' : 'pkcs8';
  return crypto.createPublicKey({ key, format: 'der', type } as unknown as crypto.PublicKeyInput);
}

/**
 * Reads PEM, DER or JWK; for a public key the private one of the pair does as well. OpenSSL has
 * none before it was judged.
 */
export function parseKey(head: Head, key: Uint8Array): KeyFacts {
  const half: Half = head['half'] === 'public' ? 'public' : 'private';
  const parse = half === 'private' ? crypto.createPrivateKey : crypto.createPublicKey;
  const { format, type, passphrase } = head;
  if (format === 'jwk') return describe(parse({ key: readJwk(key) as crypto.JsonWebKey, format: 'jwk' }));
  const secret = typeof passphrase === 'string' ? Buffer.from(passphrase, 'base64') : undefined;
  if (format !== 'der') return describe(parse({ key: readPem(Buffer.from(key), half, secret), format: 'pem' }));
  const der = openPkcs8(Buffer.from(key), secret);
  refuseCostlyKey(der);
  const input: Record<string, unknown> = { key: der, format: 'der' };
  if (typeof type === 'string') input['type'] = type;
  return describe(parse(input as unknown as crypto.PrivateKeyInput & crypto.PublicKeyInput));
}

function describe(key: crypto.KeyObject): KeyFacts {
  const type = key.type === 'private' ? 'private' : 'public';
  const form = type === 'private' ? 'pkcs8' : 'spki';
  const der = key.export({ format: 'der', type: form } as crypto.KeyExportOptions<'der'>);
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

/**
 * A small exponent with divisors rejects most primes when keys are made, which takes long. No
 * service uses one.
 */
function refuseRareExponent(exponent: number): void {
  if (exponent % 2 === 0 || (exponent < 65_537 && exponent !== 3 && exponent !== 17))
    throw new AskError('publicExponent must be 3, 17, or an odd number of at least 65537');
}

function makePair({ type, modulusLength, publicExponent, namedCurve }: Head): crypto.KeyPairKeyObjectResult {
  switch (type) {
    case 'rsa':
    case 'rsa-pss': {
      if (typeof modulusLength !== 'number' || modulusLength < 512 || modulusLength > MAX_MODULUS_BITS)
        throw new AskError(`modulusLength must be from 512 to ${MAX_MODULUS_BITS}`);
      const exponent = typeof publicExponent === 'number' ? { publicExponent } : {};
      if (typeof publicExponent === 'number') refuseRareExponent(publicExponent);
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
