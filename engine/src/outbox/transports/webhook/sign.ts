import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import type { SignatureScheme } from '../../../contract/index.ts';

/**
 * Standard Webhooks
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md), over
 * `<id>.<timestamp>.<body>`: `v1` is HMAC-SHA256, `v1a` is Ed25519.
 */
const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
const PRIVATE_PREFIX = 'whsk_';
const PUBLIC_PREFIX = 'whpk_';
const ED25519_BYTES = 32;
/** PKCS #8 of an Ed25519 key, up to its 32 bytes. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Makes a signing secret: `whsec_` and 32 random bytes in base64, which receivers are given; with
 * `v1a` `whsk_` and a private key, of which they are given the public one.
 */
export function createSecret(scheme: SignatureScheme = 'v1'): string {
  const seed = randomBytes(SECRET_BYTES);
  if (scheme === 'v1') return SECRET_PREFIX + seed.toString('base64');
  return PRIVATE_PREFIX + Buffer.concat([seed, publicBytes(privateKeyOf(seed))]).toString('base64');
}

export function schemeOf(secret: string): SignatureScheme {
  return secret.startsWith(PRIVATE_PREFIX) ? 'v1a' : 'v1';
}

/** `whpk_` and base64; undefined where receivers verify with the secret itself. */
export function publicKeyOf(secret: string): string | undefined {
  if (schemeOf(secret) === 'v1') return undefined;
  return PUBLIC_PREFIX + publicBytes(readSecret(secret)).toString('base64');
}

/**
 * The key of a secret, as a KeyObject that callers should keep. Signing with key bytes makes one
 * for every signature and takes ten times as long. Throws RangeError for other texts than these
 * two: `whsec_` and base64 of 24 to 64 bytes, or `whsk_` and base64 of a private key. The private
 * key may be followed by its public key.
 */
export function readSecret(secret: string): KeyObject {
  if (schemeOf(secret) === 'v1a') return readPrivateKey(secret.slice(PRIVATE_PREFIX.length));
  const text = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  const key = Buffer.from(text, 'base64');
  if (key.length < MIN_SECRET_BYTES || key.length > MAX_SECRET_BYTES || key.toString('base64') !== text) {
    throw new RangeError(
      `A signing secret is ${SECRET_PREFIX} and base64 of ${MIN_SECRET_BYTES} to ${MAX_SECRET_BYTES} bytes`,
    );
  }
  return createSecretKey(key);
}

function readPrivateKey(text: string): KeyObject {
  const bytes = Buffer.from(text, 'base64');
  const isWhole = bytes.length === ED25519_BYTES || bytes.length === 2 * ED25519_BYTES;
  if (isWhole && bytes.toString('base64') === text) {
    const key = privateKeyOf(bytes.subarray(0, ED25519_BYTES));
    const given = bytes.subarray(ED25519_BYTES);
    if (given.length === 0 || given.equals(publicBytes(key))) return key;
  }
  throw new RangeError(`A private key is ${PRIVATE_PREFIX} and base64 of an Ed25519 key of 32 or 64 bytes`);
}

const privateKeyOf = (seed: Buffer) =>
  createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });

const publicBytes = (key: KeyObject) =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-ED25519_BYTES);

export interface SignedMessage {
  /** `webhook-id`: no dot, since dots separate the signed parts. */
  id: string;
  /** `webhook-timestamp`: epoch seconds of this attempt. */
  timestampSeconds: number;
  /** As it is sent, byte for byte. */
  body: Uint8Array | string;
}

/**
 * The `webhook-signature` header: one `v1,<base64>` or `v1a,<base64>` for each key, separated by
 * spaces. While a secret is being replaced both sign, and a receiver accepts whichever it knows.
 */
export function signatures(keys: readonly KeyObject[], message: SignedMessage): string {
  const head = `${message.id}.${message.timestampSeconds}.`;
  return keys.map((key) => signature(key, head, message.body)).join(' ');
}

function signature(key: KeyObject, head: string, body: SignedMessage['body']): string {
  if (key.type === 'secret') return `v1,${createHmac('sha256', key).update(head).update(body).digest('base64')}`;
  return `v1a,${sign(null, Buffer.concat([Buffer.from(head), Buffer.from(body)]), key).toString('base64')}`;
}

/**
 * The `webhook-id` of an event: the same for every attempt and receiver, so that a receiver can
 * drop duplicates. `evt_<emitter id without its prefix>_<ms>_<seq>`; emitter ids are random, so two
 * emitters never share one.
 */
export function messageId(emitterId: string, indexedAtMs: number, seq: number): string {
  return `evt_${emitterId.slice(emitterId.indexOf('_') + 1)}_${indexedAtMs}_${seq}`;
}
