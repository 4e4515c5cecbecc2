import * as crypto from 'node:crypto';
import { AskError, requireWithin } from './ask-error.ts';
import { readHead } from './read-head.ts';
import { exportKey, generateKeyPair, keyFromDer, parseKey } from './crypto-keys.ts';
import {
  MAX_PBKDF2_ROUNDS,
  MAX_SCRYPT_BYTES,
  MAX_SCRYPT_WORK,
  refuseLongPbkdf2,
  refuseLongScrypt,
} from './derivation-costs.ts';

const MAX_DERIVED_BYTES = 1024 * 1024;

/**
 * The arguments of one operation, from the guest: nothing in it is trusted to be there or of its
 * type.
 */
type Head = Record<string, unknown>;
type Operation = (head: Head, data: Uint8Array, second: Uint8Array) => Uint8Array;

const OPERATIONS: Readonly<Record<string, Operation>> = {
  sign: (head, data, key) =>
    crypto.sign(nameOrNull(head['algorithm']), data, { key: keyFromDer(key, 'private'), ...paddingOf(head) }),
  verify: (head, data, key) => {
    const signature = bytesOf(head['signature']);
    const options = { key: keyFromDer(key, 'public'), ...paddingOf(head) };
    return Uint8Array.of(crypto.verify(nameOrNull(head['algorithm']), data, options, signature) ? 1 : 0);
  },
  cipher: runCipher,
  cipherInfo: (head) => json(crypto.getCipherInfo(text(head['name'])) ?? null),
  lists: () => json({ ciphers: crypto.getCiphers(), hashes: crypto.getHashes(), curves: crypto.getCurves() }),
  shake: (head, data) =>
    crypto
      .createHash(text(head['algorithm']), { outputLength: count(head['outputLength'], MAX_DERIVED_BYTES) })
      .update(data)
      .digest(),
  pbkdf2: (head, password, salt) => {
    const iterations = count(head['iterations'], MAX_PBKDF2_ROUNDS);
    const keyBytes = count(head['keyBytes'], MAX_DERIVED_BYTES);
    const digest = text(head['digest']);
    refuseLongPbkdf2(iterations, keyBytes, digest, salt.byteLength);
    return crypto.pbkdf2Sync(password, salt, iterations, keyBytes, digest);
  },
  scrypt: runScrypt,
  hkdf: (head, key, salt) => {
    const keyBytes = count(head['keyBytes'], MAX_DERIVED_BYTES);
    return new Uint8Array(crypto.hkdfSync(text(head['digest']), key, salt, bytesOf(head['info']), keyBytes));
  },
  parseKey: (head, key) => json(parseKey(head, key)),
  exportKey: (head, _data, key) => exportKey(head, key),
  generateKeyPair: (head) => json(generateKeyPair(head)),
  publicEncrypt: (head, data, key) =>
    crypto.publicEncrypt({ key: keyFromDer(key, 'public'), ...paddingOf(head) }, data),
  privateDecrypt: (head, data, key) =>
    crypto.privateDecrypt({ key: keyFromDer(key, 'private'), ...paddingOf(head) }, data),
  privateEncrypt: (head, data, key) =>
    crypto.privateEncrypt({ key: keyFromDer(key, 'private'), ...paddingOf(head) }, data),
  publicDecrypt: (head, data, key) =>
    crypto.publicDecrypt({ key: keyFromDer(key, 'public'), ...paddingOf(head) }, data),
  diffieHellman: (_head, privateKey, publicKey) =>
    crypto.diffieHellman({ privateKey: keyFromDer(privateKey, 'private'), publicKey: keyFromDer(publicKey, 'public') }),
  ecdhKeys: (head) => {
    const ecdh = crypto.createECDH(text(head['curve']));
    if (head['privateKey'] === undefined) ecdh.generateKeys();
    else ecdh.setPrivateKey(bytesOf(head['privateKey']));
    return json({ privateKey: ecdh.getPrivateKey('base64'), publicKey: ecdh.getPublicKey('base64') });
  },
  ecdhSecret: (head, privateKey, publicKey) => {
    const ecdh = crypto.createECDH(text(head['curve']));
    ecdh.setPrivateKey(privateKey);
    return ecdh.computeSecret(publicKey);
  },
};

/**
 * Answers `ASK.nodeCrypto`: one operation of `node:crypto` without state. Throws AskError or what
 * crypto throws.
 */
export function answerNodeCrypto(headJson: unknown, data: Uint8Array, second: Uint8Array): Uint8Array {
  const head = readHead(headJson) as Head;
  const name = text(head['operation']);
  const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (operation === undefined) throw new AskError('This is not supported');
  return new Uint8Array(operation(head, data, second));
}

/**
 * Output, before it, with `final` and an authenticating mode, the tag and its length in one byte.
 */
function runCipher(head: Head, data: Uint8Array, key: Uint8Array): Uint8Array {
  const name = text(head['name']);
  const options = head['authTagLength'] === undefined ? {} : { authTagLength: count(head['authTagLength'], 16) };
  const iv = head['iv'] === null ? null : bytesOf(head['iv']);
  const decrypts = head['decrypts'] === true;
  refuseLongFeedback(name, data.byteLength);
  // The types know each mode apart; which of them a name stands for is known at run time only.
  const cipher = (decrypts ? crypto.createDecipheriv : crypto.createCipheriv)(
    name,
    key,
    iv,
    options as object,
  ) as crypto.CipherGCM & crypto.DecipherGCM;
  if (head['autoPadding'] === false) cipher.setAutoPadding(false);
  if (head['aad'] !== undefined) cipher.setAAD(bytesOf(head['aad']), { plaintextLength: data.length });
  if (head['authTag'] !== undefined && decrypts) cipher.setAuthTag(bytesOf(head['authTag']));
  const output = cipher.update(data);
  if (head['final'] !== true) return Buffer.concat([Uint8Array.of(0), output]);
  const whole = Buffer.concat([output, cipher.final()]);
  const tag = !decrypts && isAuthenticating(name) ? cipher.getAuthTag() : new Uint8Array(0);
  return Buffer.concat([Uint8Array.of(tag.length), tag, whole]);
}

function refuseLongFeedback(name: string, bytes: number): void {
  const [, bits = ''] = /cfb-?([18])$/i.exec(crypto.getCipherInfo(name)?.name ?? '') ?? [];
  if (bits === '1') requireWithin('maxCfb1StreamBytes', bytes);
  if (bits === '8') requireWithin('maxCfb8StreamBytes', bytes);
}

function isAuthenticating(name: string): boolean {
  return ['gcm', 'ccm', 'ocb', 'siv'].includes(crypto.getCipherInfo(name)?.mode ?? '') || /poly1305/i.test(name);
}

function runScrypt(head: Head, password: Uint8Array, salt: Uint8Array): Uint8Array {
  const [cost, blockSize, parallelization] = [head['cost'], head['blockSize'], head['parallelization']].map((value) =>
    count(value, MAX_SCRYPT_WORK),
  ) as [number, number, number];
  const keyBytes = count(head['keyBytes'], MAX_DERIVED_BYTES);
  refuseLongScrypt({ cost, blockSize, parallelization }, keyBytes, salt.byteLength);
  const maxmem = Math.min(count(head['maxBytes'], Number.MAX_SAFE_INTEGER), MAX_SCRYPT_BYTES);
  return crypto.scryptSync(password, salt, keyBytes, {
    cost,
    blockSize,
    parallelization,
    maxmem,
  });
}

interface Padding {
  padding?: number;
  saltLength?: number;
  dsaEncoding?: 'der' | 'ieee-p1363';
  oaepHash?: string;
  oaepLabel?: Uint8Array;
}

function paddingOf(head: Head): Padding {
  const padding: Padding = {};
  if (typeof head['padding'] === 'number') padding.padding = head['padding'];
  if (typeof head['saltLength'] === 'number') padding.saltLength = head['saltLength'];
  if (head['dsaEncoding'] === 'der' || head['dsaEncoding'] === 'ieee-p1363') padding.dsaEncoding = head['dsaEncoding'];
  if (typeof head['oaepHash'] === 'string') padding.oaepHash = head['oaepHash'];
  if (typeof head['oaepLabel'] === 'string') padding.oaepLabel = bytesOf(head['oaepLabel']);
  return padding;
}

function nameOrNull(value: unknown): string | null {
  return value === null ? null : text(value);
}

function text(value: unknown): string {
  if (typeof value !== 'string' || value.length > 256) throw new AskError('A name is missing or too long');
  return value;
}

function bytesOf(value: unknown): Buffer {
  if (typeof value !== 'string') throw new AskError('Bytes are missing');
  return Buffer.from(value, 'base64');
}

function count(value: unknown, max: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max)
    throw new AskError(`A number is missing or over its limit of ${max}`);
  return value;
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
