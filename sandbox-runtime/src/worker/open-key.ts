import * as crypto from 'node:crypto';
import { AskError } from './ask-error.ts';
import {
  childrenOf,
  INTEGER,
  numberOf,
  OCTET_STRING,
  octetsOf,
  oidOf,
  readValue,
  SEQUENCE,
  unreadable,
  type Value,
} from './der.ts';
import { MAX_SCRYPT_BYTES, refuseLongPbkdf2, refuseLongScrypt } from './derivation-costs.ts';
import { refuseLargeKey } from './key-costs.ts';
import { derivePkcs12 } from './pkcs12-derivation.ts';

/*
 * Opens keys that are encrypted with a passphrase. OpenSSL would do so too, but would read at once
 * what comes out, which is to be judged before. EncryptedPrivateKeyInfo: RFC 5958; how it is
 * encrypted: RFC 8018, 7292, 7914.
 */

type Cipher = readonly [name: string, keyBytes: number];

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
const CIPHERS: Readonly<Record<string, Cipher>> = {
  '608648016503040102': ['aes-128-cbc', 16],
  '608648016503040116': ['aes-192-cbc', 24],
  '60864801650304012a': ['aes-256-cbc', 32],
  '2a864886f70d0307': ['des-ede3-cbc', 24],
};
const PKCS12_CIPHERS: Readonly<Record<string, Cipher>> = {
  '2a864886f70d010c0103': ['des-ede3-cbc', 24],
  '2a864886f70d010c0104': ['des-ede-cbc', 16],
};
const PKCS12_IV_BYTES = 8;
/** Node knows no longer one. */
const MAX_PASSPHRASE_BYTES = 1024;
/** The older form takes its salt from the IV. */
const OLD_SALT_BYTES = 8;
const OLD_HEADER = /^DEK-Info: *([\w-]{1,40}),([0-9A-Fa-f]{16,64})\s*$/m;

/**
 * A key in the form of PKCS #8, encrypted or not; answers it as it is not. Throws AskError, or what
 * decrypting throws.
 */
export function openPkcs8(der: Buffer, passphrase: Buffer | undefined): Buffer {
  refuseLargeKey(der.length);
  const [algorithm, data] = childrenOf(readValue(der, 0).value);
  // An unencrypted key starts with a version. A public one starts with an algorithm, and its key is
  // not an OCTET STRING.
  if (algorithm?.tag !== SEQUENCE || data?.tag !== OCTET_STRING) return der;
  const secret = secretOf(passphrase);
  const [id, parameters] = childrenOf(algorithm);
  const oid = oidOf(id);
  const fields = childrenOf(parameters);
  return oid === PBES2 ? openPbes2(fields, data.bytes, secret) : openPkcs12(oid, fields, data.bytes, secret);
}

/** The older form of PEM, with headers, in which one round is made. */
export function openOldPem(headers: string, data: Buffer, passphrase: Buffer | undefined): Buffer {
  const secret = secretOf(passphrase);
  const [, name = '', hex = ''] = OLD_HEADER.exec(headers) ?? [];
  const info = crypto.getCipherInfo(name);
  const iv = Buffer.from(hex, 'hex');
  if (info?.mode !== 'cbc' || info.ivLength !== iv.length) throw unreadable();
  let key = Buffer.alloc(0);
  for (let block = Buffer.alloc(0); key.length < info.keyLength; key = Buffer.concat([key, block]))
    block = crypto.createHash('md5').update(block).update(secret).update(iv.subarray(0, OLD_SALT_BYTES)).digest();
  return decrypt(name, key.subarray(0, info.keyLength), iv, data);
}

function secretOf(passphrase: Buffer | undefined): Buffer {
  if (passphrase === undefined)
    throw Object.assign(new Error('Passphrase required for encrypted key'), { code: 'ERR_MISSING_PASSPHRASE' });
  if (passphrase.length <= MAX_PASSPHRASE_BYTES) return passphrase;
  throw new AskError(`A passphrase may have at most ${MAX_PASSPHRASE_BYTES} bytes here, not ${passphrase.length}`);
}

function openPbes2([derivation, encryption]: Value[], data: Buffer, passphrase: Buffer): Buffer {
  const [id, iv] = childrenOf(encryption);
  const [name, keyBytes] = known(CIPHERS, oidOf(id));
  return decrypt(name, deriveKey(derivation, passphrase, keyBytes), octetsOf(iv), data);
}

function deriveKey(derivation: Value | undefined, passphrase: Buffer, keyBytes: number): Buffer {
  const [id, parameters] = childrenOf(derivation);
  const [saltValue, ...fields] = childrenOf(parameters);
  const [kind, salt] = [oidOf(id), octetsOf(saltValue)];
  if (kind === PBKDF2) {
    const rounds = numberOf(fields[0]);
    // The length of the key, which is that of its cipher, may come before.
    const hmac = fields.slice(1).find(({ tag }) => tag !== INTEGER);
    const digest = hmac === undefined ? 'sha1' : known(HMACS, oidOf(childrenOf(hmac)[0]));
    refuseLongPbkdf2(rounds, keyBytes, digest, salt.length);
    return crypto.pbkdf2Sync(passphrase, salt, rounds, keyBytes, digest);
  }
  if (kind !== SCRYPT) throw unreadable();
  const [cost, blockSize, parallelization] = fields.slice(0, 3).map(numberOf) as [number, number, number];
  if (parallelization === undefined) throw unreadable();
  refuseLongScrypt({ cost, blockSize, parallelization }, keyBytes, salt.length);
  return crypto.scryptSync(passphrase, salt, keyBytes, { cost, blockSize, parallelization, maxmem: MAX_SCRYPT_BYTES });
}

function openPkcs12(oid: string, [saltValue, rounds]: Value[], data: Buffer, passphrase: Buffer): Buffer {
  const [name, keyBytes] = known(PKCS12_CIPHERS, oid);
  const from = { passphrase, salt: octetsOf(saltValue), rounds: numberOf(rounds) };
  const key = derivePkcs12({ ...from, purpose: 'key', bytes: keyBytes });
  return decrypt(name, key, derivePkcs12({ ...from, purpose: 'iv', bytes: PKCS12_IV_BYTES }), data);
}

function known<T>(table: Readonly<Record<string, T>>, oid: string): T {
  const found = Object.hasOwn(table, oid) ? table[oid] : undefined;
  if (found === undefined) throw new AskError('How the key is encrypted cannot be read');
  return found;
}

function decrypt(name: string, key: Buffer, iv: Buffer, data: Buffer): Buffer {
  const decipher = crypto.createDecipheriv(name, key, iv);
  return Buffer.concat([decipher.update(data), decipher.final()]);
}
