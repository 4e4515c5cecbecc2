import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { HeadwaterError } from '@headwater/shared';
import type { MasterKey } from './master-key.ts';

/** Seals small texts (webhook secrets, secret props) for the database. */
export interface Sealer {
  seal(accountId: string, plaintext: string): string;
  /** Throws SealError. */
  open(accountId: string, sealed: string): string;
}

type SealFault = 'malformed' | 'unknown-key' | 'not-authentic';

/**
 * Thrown when a sealed text cannot be opened. `not-authentic`: it was changed, or sealed for another account, or the key
 * with this id is not the one it was sealed with: the three cannot be told apart.
 */
export class SealError extends HeadwaterError {
  readonly fault: SealFault;

  constructor(fault: SealFault, message: string, options: { cause?: unknown } = {}) {
    super('INTERNAL', message, options);
    this.fault = fault;
  }
}

const ALGORITHM = 'aes-256-gcm';
const VERSION = 'v1';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WRAPPED_BYTES = NONCE_BYTES + KEY_BYTES + TAG_BYTES;

/**
 * AES-256-GCM in an envelope: a fresh data key for every text, wrapped by the first master key; the others only open.
 * The account id is authenticated with both layers, so a row copied to another tenant does not open. The form is
 * `v1.<master key id>.<base64url(wrapped data key | nonce | ciphertext | tag)>`. A data key is used once, and a master
 * key wraps far fewer than the 2^32 keys up to which random 96-bit nonces are safe (NIST SP 800-38D, 8.3).
 */
export function createSealer(keys: readonly MasterKey[]): Sealer {
  const [first] = keys;
  if (first === undefined) throw new Error('A sealer needs at least one master key');
  const byId = new Map(keys.map((key) => [key.id, key]));
  return {
    seal(accountId, plaintext) {
      const context = contextOf(first.id, accountId);
      const dataKey = randomBytes(KEY_BYTES);
      const wrapped = encrypt(first.key, context, dataKey);
      const body = encrypt(dataKey, context, Buffer.from(plaintext, 'utf8'));
      return `${VERSION}.${first.id}.${Buffer.concat([wrapped, body]).toString('base64url')}`;
    },
    open(accountId, sealed) {
      const { keyId, bytes } = parse(sealed);
      const master = byId.get(keyId);
      if (master === undefined) {
        const message = `A secret was sealed with the master key ${keyId}, which is not configured. Set HEADWATER_ENCRYPTION_KEY to it.`;
        throw new SealError('unknown-key', message);
      }
      const context = contextOf(keyId, accountId);
      const dataKey = decrypt(master.key, context, bytes.subarray(0, WRAPPED_BYTES));
      return decrypt(dataKey, context, bytes.subarray(WRAPPED_BYTES)).toString('utf8');
    },
  };
}

const contextOf = (keyId: string, accountId: string) => Buffer.from(`${VERSION}.${keyId}.${accountId}`, 'utf8');

function parse(sealed: string): { keyId: string; bytes: Buffer } {
  const [version, keyId, body, ...rest] = sealed.split('.');
  const bytes = Buffer.from(body ?? '', 'base64url');
  const whole = bytes.length >= WRAPPED_BYTES + NONCE_BYTES + TAG_BYTES;
  if (version !== VERSION || keyId === undefined || rest.length > 0 || !whole) {
    throw new SealError('malformed', 'A stored secret does not have the form of one');
  }
  return { keyId, bytes };
}

function encrypt(key: Uint8Array, context: Uint8Array, plaintext: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(context);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Uint8Array, context: Uint8Array, bytes: Uint8Array): Buffer {
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(context).setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new SealError('not-authentic', 'A stored secret was changed, or belongs to another account or key', {
      cause,
    });
  }
}
