import { AskError } from './ask-error.ts';
import {
  BIT_STRING,
  bitsOf,
  childrenOf,
  INTEGER,
  OCTET_STRING,
  octetsOf,
  OID,
  oidOf,
  readValue,
  SEQUENCE,
  unreadable,
  type Value,
} from './der.ts';

/*
 * The cost of a key depends on the size of its numbers. OpenSSL bounds few of them, and computes
 * with some while it reads a key. So every key of a component is checked here before OpenSSL gets
 * it, by its content and not by its declared type. Formats: PrivateKeyInfo RFC 5958,
 * SubjectPublicKeyInfo RFC 5280, RSA RFC 8017, EC RFC 5915, DSA and DH RFC 3279, JWK RFC 7518.
 */

/** As PEM or DER: an RSA key of 8 192 bits has 6.5 KB as PEM, the largest of ML-DSA 6.7 KB. */
const MAX_KEY_BYTES = 16 * 1024;
const MAX_JWK_BYTES = 64 * 1024;
/** Measured: a signature with four times as many takes 18 s. */
const MAX_RSA_BITS = 8_192;
const MAX_RSA_EXPONENT_BITS = 256;
/** By how much a prime may be longer than half of its modulus. */
const PRIME_SLACK_BITS = 64;
const MAX_DSA_BITS = 4_096;
const MAX_DSA_EXPONENT_BITS = 512;
const MAX_DH_BITS = 8_192;
/** The longest curve has 571. */
const MAX_EC_BITS = 640;

type Kind = 'rsa' | 'dsa' | 'dh' | 'ec' | 'fixed';

/**
 * By the identifiers of their algorithms. With "fixed" ones a key has one size, and OpenSSL checks
 * it.
 */
const KINDS: Readonly<Record<string, Kind>> = {
  '2a864886f70d010101': 'rsa',
  '2a864886f70d01010a': 'rsa', // with PSS
  '55080101': 'rsa', // of X.500
  '2a8648ce380401': 'dsa',
  '2a864886f70d010301': 'dh',
  '2a8648ce3e0201': 'dh', // of X9.42
  '2a8648ce3d0201': 'ec',
  '2b656e': 'fixed', // X25519
  '2b656f': 'fixed', // X448
  '2b6570': 'fixed', // Ed25519
  '2b6571': 'fixed', // Ed448
  '608648016503040311': 'fixed', // ML-DSA-44
  '608648016503040312': 'fixed', // ML-DSA-65
  '608648016503040313': 'fixed', // ML-DSA-87
  '608648016503040401': 'fixed', // ML-KEM-512
  '608648016503040402': 'fixed', // ML-KEM-768
  '608648016503040403': 'fixed', // ML-KEM-1024
};

/** Numbers of an RSA key, in the order of RFC 8017. */
const RSA_NAMES = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const;
type RsaName = (typeof RSA_NAMES)[number];

export type KeyForm = 'pkcs8' | 'spki' | 'other';

/**
 * Throws AskError for a key that is expensive to read or use, or has no known form. The key is not
 * encrypted.
 */
export function refuseCostlyKey(der: Buffer): KeyForm {
  refuseLargeKey(der.length);
  const { value, end } = readValue(der, 0);
  if (end !== der.length) throw unreadable();
  const parts = childrenOf(value);
  const [first, second, third] = parts;
  if (first?.tag === SEQUENCE && second?.tag === BIT_STRING) {
    checkPublic(childrenOf(first), second);
    return 'spki';
  }
  if (first?.tag !== INTEGER) throw unreadable();
  if (second?.tag === SEQUENCE && third?.tag === OCTET_STRING) {
    checkPrivate(childrenOf(second), third.bytes);
    return 'pkcs8';
  }
  if (second?.tag === OCTET_STRING) checkEcPrivate(parts);
  else if (parts.length === 6) checkOldDsa(parts);
  else if (parts.length === 2) checkRsa(parts);
  else checkRsaPrivate(parts);
  return 'other';
}

export function refuseLargeKey(bytes: number): void {
  if (bytes > MAX_KEY_BYTES) throw new AskError(`A key may have at most ${MAX_KEY_BYTES} bytes here, not ${bytes}`);
}

/** A JSON Web Key as JSON. Throws AskError, or what JSON.parse throws. */
export function readJwk(json: Uint8Array): Record<string, unknown> {
  if (json.byteLength > MAX_JWK_BYTES)
    throw new AskError(`A JSON Web Key may have at most ${MAX_JWK_BYTES} bytes here, not ${json.byteLength}`);
  const jwk: unknown = JSON.parse(Buffer.from(json).toString());
  refuseCostlyJwk(jwk);
  return jwk as Record<string, unknown>;
}

/** Throws AskError for a JSON Web Key that is expensive to use, regardless of its declared type. */
export function refuseCostlyJwk(jwk: unknown): void {
  if (typeof jwk !== 'object' || jwk === null) throw new AskError('A JSON Web Key must be an object');
  const bits = new Map(Object.entries(jwk).map(([name, value]) => [name, bitsOfText(value)]));
  const of = (name: string): number => bits.get(name) ?? 0;
  for (const name of ['x', 'y']) refuseLargeNumber('a key of a curve', name, of(name), MAX_EC_BITS);
  if (bits.has('n')) checkRsaBits(of);
  else refuseLargeNumber('a key of a curve', 'd', of('d'), MAX_EC_BITS);
  for (const name of RSA_NAMES) refuseLargeNumber('an RSA key', name, of(name), MAX_RSA_BITS);
}

/** A value that is not text is refused: Web Crypto would turn a list into text. */
function bitsOfText(value: unknown): number {
  if (typeof value !== 'string') return typeof value === 'object' && value !== null ? Infinity : 0;
  const bytes = Buffer.from(value, 'base64url');
  const start = bytes.findIndex((byte) => byte !== 0);
  // For invalid base64 count every character, because OpenSSL or Node may decode it differently.
  const plain = /^[\w+/-]*={0,2}$/.test(value);
  return 8 * (plain ? bytes.length - Math.max(start, 0) : value.length);
}

function checkPublic([id, parameters]: Value[], key: Value): void {
  const kind = kindOf(id);
  checkParameters(kind, parameters);
  if (kind === 'ec' || kind === 'fixed') return;
  // The first byte says how many bits of the last are none.
  const number = readValue(key.bytes, 1).value;
  if (kind === 'rsa') checkRsa(childrenOf(number));
  else
    refuseLargeNumber(`a ${kind.toUpperCase()} key`, 'y', bitsOf(number), kind === 'dsa' ? MAX_DSA_BITS : MAX_DH_BITS);
}

function checkPrivate([id, parameters]: Value[], key: Buffer): void {
  const kind = kindOf(id);
  checkParameters(kind, parameters);
  if (kind === 'fixed') return;
  const { value } = readValue(key, 0);
  if (kind === 'rsa') checkRsaPrivate(childrenOf(value));
  else if (kind === 'ec') checkEcPrivate(childrenOf(value));
  else if (kind === 'dsa') refuseLargeNumber('a DSA key', 'x', bitsOf(value), MAX_DSA_EXPONENT_BITS);
  else refuseLargeNumber('a DH key', 'x', bitsOf(value), MAX_DH_BITS);
}

function kindOf(id: Value | undefined): Kind {
  const oid = oidOf(id);
  const kind = Object.hasOwn(KINDS, oid) ? KINDS[oid] : undefined;
  if (kind === undefined) throw new AskError('Keys of this algorithm are not supported in the sandbox');
  return kind;
}

function checkParameters(kind: Kind, parameters: Value | undefined): void {
  // Curves have names: what computing on another one takes is not known.
  if (kind === 'ec' && parameters?.tag !== OID) throw new AskError('The curve of an EC key must be given by its name');
  if (kind === 'dsa') checkDsaGroup(childrenOf(parameters));
  if (kind === 'dh') checkDhGroup(childrenOf(parameters));
}

function checkDsaGroup([p, q, g]: Value[]): void {
  refuseLargeNumber('a DSA key', 'p', bitsOf(p), MAX_DSA_BITS);
  refuseLargeNumber('a DSA key', 'q', bitsOf(q), MAX_DSA_EXPONENT_BITS);
  refuseLargeNumber('a DSA key', 'g', bitsOf(g), MAX_DSA_BITS);
}

/** `p, g` and a length, or with X9.42 `p, g, q`, another and what they were made of. */
function checkDhGroup(values: Value[]): void {
  for (const value of values) {
    if (value.tag === INTEGER) refuseLargeNumber('a DH key', 'each number', bitsOf(value), MAX_DH_BITS);
    else if (value.tag === SEQUENCE) checkDhGroup(childrenOf(value).filter(({ tag }) => tag === INTEGER));
    else throw unreadable();
  }
}

/** The form of OpenSSL: version, p, q, g, y, x. */
function checkOldDsa([, p, q, g, y, x]: Value[]): void {
  checkDsaGroup([p, q, g] as Value[]);
  refuseLargeNumber('a DSA key', 'y', bitsOf(y), MAX_DSA_BITS);
  refuseLargeNumber('a DSA key', 'x', bitsOf(x), MAX_DSA_EXPONENT_BITS);
}

function checkEcPrivate([, number, ...others]: Value[]): void {
  refuseLargeNumber('a key of a curve', 'd', 8 * octetsOf(number).length, MAX_EC_BITS);
  const parameters = others.find(({ tag }) => tag === 0xa0);
  if (parameters !== undefined) checkParameters('ec', readValue(parameters.bytes, 0).value);
}

function checkRsaPrivate([version, ...numbers]: Value[]): void {
  if (numbers.length !== RSA_NAMES.length || version?.tag !== INTEGER || !version.bytes.equals(Buffer.of(0)))
    throw new AskError('An RSA key must have two primes and version 0: its form cannot be read');
  checkRsa(numbers);
}

function checkRsa(numbers: Value[]): void {
  const bits = new Map<string, number>(RSA_NAMES.slice(0, numbers.length).map((name, i) => [name, bitsOf(numbers[i])]));
  checkRsaBits((name) => bits.get(name) ?? 0);
}

function checkRsaBits(of: (name: RsaName) => number): void {
  const modulus = of('n');
  if (modulus > MAX_RSA_BITS)
    throw new AskError(`A key of RSA may have a modulus of at most ${MAX_RSA_BITS} bits here, not ${modulus}`);
  refuseLargeNumber('an RSA key', 'e', of('e'), MAX_RSA_EXPONENT_BITS);
  refuseLargeNumber('an RSA key of its length', 'd', of('d'), modulus);
  for (const name of ['p', 'q', 'dp', 'dq', 'qi'] as const)
    refuseLargeNumber('an RSA key of its length', name, of(name), Math.ceil(modulus / 2) + PRIME_SLACK_BITS);
}

function refuseLargeNumber(key: string, name: string, bits: number, max: number): void {
  if (bits > max) throw new AskError(`In ${key}, ${name} may have at most ${max} bits here, not ${bits}`);
}
