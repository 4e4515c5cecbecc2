import { AskError } from './ask-error.ts';
import { MAX_SCRYPT_WORK, refuseLongPbkdf2 } from './derivation-costs.ts';

/*
 * What a private key costs is written in it: how many rounds it takes to be opened with a passphrase, up to billions, and how large the
 * numbers are that are computed with. Both are read and bounded before OpenSSL, which knows no bound, has the key.
 * PrivateKeyInfo and EncryptedPrivateKeyInfo: RFC 5958; how they are encrypted: RFC 8018, 7292, 7914; RSAPrivateKey: RFC 8017.
 */

const [INTEGER, OCTET_STRING, OID, SEQUENCE] = [0x02, 0x04, 0x06, 0x30];
/** PKCS #5 and PKCS #12, in which all encryption by a passphrase is. */
const ARCS = ['2a864886f70d0105', '2a864886f70d010c01'];
const PBES2 = '2a864886f70d01050d';
const PBKDF2 = '2a864886f70d01050c';
const SCRYPT = '2b06010401da47040b';
const HMACS: Readonly<Record<string, string>> = {
  '2a864886f70d0207': 'sha1',
  '2a864886f70d0208': 'sha224',
  '2a864886f70d0209': 'sha256',
  '2a864886f70d020a': 'sha384',
  '2a864886f70d020b': 'sha512',
};
/** RSA of PKCS #1, with its OAEP and PSS, and of X.500. */
const RSA = ['2a864886f70d0101', '55080101'];
/** Measured: a signature with four times as many takes 18 s. */
const MAX_MODULUS_BITS = 8_192;
/** An RSA key of so many has 4.7 KB. */
const MAX_PRIVATE_KEY_BYTES = 6_000;
/** Of the largest cipher. */
const MAX_KEY_BYTES = 64;
const MAX_INTEGER_BYTES = 6;

interface Value {
  tag: number;
  bytes: Buffer;
}

/**
 * Throws AskError for a key that takes too long to be opened. What has another form than DER has, which OpenSSL might read all the same, is
 * refused too.
 */
export function refuseLongKey(der: Buffer): void {
  const [first] = childrenOf(readValue(der, 0).value);
  // The version, of keys that are not encrypted.
  if (first?.tag === INTEGER) return;
  const [id, parameters] = childrenOf(first);
  const algorithm = oidOf(id);
  if (algorithm === PBES2) refuseLongDerivation(childrenOf(parameters)[0]);
  else if (ARCS.some((arc) => algorithm.startsWith(arc)))
    refuseLongPbkdf2(integer(childrenOf(parameters)[1]), MAX_KEY_BYTES, 'sha1');
}

/** Throws AskError for a private key, in the form of PKCS #8, that takes too long to be used. */
export function refuseLargeKey(der: Buffer): void {
  if (der.length > MAX_PRIVATE_KEY_BYTES)
    throw new AskError(`A private key may have at most ${MAX_PRIVATE_KEY_BYTES} bytes here`);
  const [, algorithm, key] = childrenOf(readValue(der, 0).value);
  const oid = oidOf(childrenOf(algorithm)[0]);
  if (!RSA.some((arc) => oid.startsWith(arc))) return;
  if (key?.tag !== OCTET_STRING) throw unreadable();
  const [, modulus] = childrenOf(readValue(key.bytes, 0).value);
  // One byte more for the sign.
  if (modulus?.tag !== INTEGER || modulus.bytes.length > MAX_MODULUS_BITS / 8 + 1)
    throw new AskError(`A private key of RSA may have a modulus of at most ${MAX_MODULUS_BITS} bits here`);
}

function refuseLongDerivation(derivation: Value | undefined): void {
  const [id, parameters] = childrenOf(derivation);
  const [, ...fields] = childrenOf(parameters);
  const kind = oidOf(id);
  if (kind === PBKDF2) {
    const [rounds, ...others] = fields;
    // The length of the key, which is that of its cipher, may come before.
    const hmac = others.find(({ tag }) => tag !== INTEGER);
    const oid = hmac === undefined ? undefined : oidOf(childrenOf(hmac)[0]);
    refuseLongPbkdf2(integer(rounds), MAX_KEY_BYTES, oid === undefined ? 'sha1' : (HMACS[oid] ?? 'another hash'));
  } else if (kind === SCRYPT) {
    const [cost, blockSize, parallelization] = fields;
    if (integer(cost) * integer(blockSize) * integer(parallelization) > MAX_SCRYPT_WORK)
      throw new AskError('The scrypt parameters of the key take too long');
  } else throw unreadable();
}

function childrenOf(value: Value | undefined): Value[] {
  if (value?.tag !== SEQUENCE) throw unreadable();
  const children: Value[] = [];
  for (let at = 0; at < value.bytes.length; ) {
    const child = readValue(value.bytes, at);
    children.push(child.value);
    at = child.end;
  }
  return children;
}

function oidOf(value: Value | undefined): string {
  if (value?.tag !== OID) throw unreadable();
  return value.bytes.toString('hex');
}

/** Of definite length, as DER has it. */
function readValue(bytes: Buffer, at: number): { value: Value; end: number } {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) throw unreadable();
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + lengthBytes;
  if (first === 0x80 || lengthBytes > 4 || start > bytes.length) throw unreadable();
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 2, lengthBytes);
  if (start + length > bytes.length) throw unreadable();
  return { value: { tag, bytes: bytes.subarray(start, start + length) }, end: start + length };
}

function integer(value: Value | undefined): number {
  if (value?.tag !== INTEGER || value.bytes.length === 0 || value.bytes.length > MAX_INTEGER_BYTES) throw unreadable();
  return value.bytes.readUIntBE(0, value.bytes.length);
}

function unreadable(): AskError {
  return new AskError('The form of the key cannot be read');
}
