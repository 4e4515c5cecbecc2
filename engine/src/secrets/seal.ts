import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { HeadwaterError } from '@headwater/shared';
import type { MasterKeys } from './master-key.ts';

/** Seals small texts (webhook secrets, secret props) for the database. */
export interface Sealer {
  seal(accountId: string, plaintext: string): string;
  /** Throws SealError. */
  open(accountId: string, sealed: string): string;
  /**
   * The same secret under the key that seals now, also where that is the one it had; the data key
   * alone is wrapped anew, where the form allows. Throws SealError.
   */
  rewrap(accountId: string, sealed: string): string;
  /**
   * 43 characters (base64url) that only a holder of the current key can make from a text; always
   * the same for one key.
   */
  mac(text: string): string;
  /** How texts begin that need no rewrapping: form and key. */
  currentPrefix(): string;
}

type SealFault = 'malformed' | 'unknown-key' | 'not-authentic';

/**
 * Thrown when a sealed text cannot be opened. `not-authentic`: it was changed, or sealed for
 * another account, or the key with this id is not the one it was sealed with: the three cannot be
 * told apart.
 */
export class SealError extends HeadwaterError {
  readonly fault: SealFault;

  constructor(fault: SealFault, message: string, options: { cause?: unknown } = {}) {
    super('INTERNAL', message, options);
    this.fault = fault;
  }
}

const ALGORITHM = 'aes-256-gcm';
const VERSION = 'v2';
/**
 * The first form. Its inner layer also authenticates the name of the master key, so a new key means
 * a new inner layer. Only opened, never made.
 */
const FIRST_VERSION = 'v1';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const WRAPPED_BYTES = NONCE_BYTES + KEY_BYTES + TAG_BYTES;
/** The version, the name of the key, two dots. */
const HEAD_BYTES = 16;
const EMPTY_SEALED_BYTES = HEAD_BYTES + Math.ceil(((WRAPPED_BYTES + NONCE_BYTES + TAG_BYTES) * 4) / 3);

/**
 * Upper bound of the sealed size of texts that have `bytes` together, and the approximate reverse.
 */
export const sealedBytesOf = (bytes: number, texts: number) => texts * EMPTY_SEALED_BYTES + Math.ceil((bytes * 4) / 3);
export const bytesInSealed = (bytes: number, texts: number) =>
  Math.ceil(((bytes - texts * EMPTY_SEALED_BYTES) * 3) / 4);

/**
 * AES-256-GCM in an envelope. Each text has a fresh data key, wrapped by the current master key;
 * older master keys only open. Both layers authenticate the account id, so a row copied to another
 * tenant does not open. The form is `v2.<master key id>.<base64url(wrapped data key | nonce |
 * ciphertext | tag)>`. A data key is used once. A master key wraps far fewer than the 2^32 keys up
 * to which random 96-bit nonces are safe (NIST SP 800-38D, 8.3).
 */
export function createSealer(keys: MasterKeys): Sealer {
  function seal(accountId: string, plaintext: string): string {
    const dataKey = randomBytes(KEY_BYTES);
    return textOf(accountId, dataKey, encrypt(dataKey, innerContext(accountId), Buffer.from(plaintext, 'utf8')));
  }

  function textOf(accountId: string, dataKey: Buffer, body: Buffer): string {
    const master = keys.current();
    const wrapped = encrypt(master.key, outerContext(VERSION, master.id, accountId), dataKey);
    return `${VERSION}.${master.id}.${Buffer.concat([wrapped, body]).toString('base64url')}`;
  }

  function dataKeyOf(accountId: string, { version, keyId, bytes }: Parsed): Buffer {
    const master = keys.find(keyId);
    if (master === undefined) {
      const message =
        `A secret was sealed with the master key ${keyId}, which this node does not have. ` +
        'Add it to HEADWATER_ENCRYPTION_KEYS_OLD.';
      throw new SealError('unknown-key', message);
    }
    return decrypt(master.key, outerContext(version, keyId, accountId), bytes.subarray(0, WRAPPED_BYTES));
  }

  function open(accountId: string, sealed: string): string {
    const parsed = parse(sealed);
    const { version, keyId, bytes } = parsed;
    const context = version === VERSION ? innerContext(accountId) : outerContext(version, keyId, accountId);
    return decrypt(dataKeyOf(accountId, parsed), context, bytes.subarray(WRAPPED_BYTES)).toString('utf8');
  }

  return {
    seal,
    open,
    rewrap(accountId, sealed) {
      const parsed = parse(sealed);
      if (parsed.version !== VERSION) return seal(accountId, open(accountId, sealed));
      return textOf(accountId, dataKeyOf(accountId, parsed), parsed.bytes.subarray(WRAPPED_BYTES));
    },
    mac: (text) => createHmac('sha256', keys.current().key).update(`mac ${text}`).digest('base64url'),
    currentPrefix: () => `${VERSION}.${keys.current().id}.`,
  };
}

/**
 * A sealed text in the form to write now. It may have been read or sealed before a key rotation.
 * Written back unchanged, it would bring the old key back after the rotation is complete. A text
 * that does not open stays as it is; its use reports the fault.
 */
export function underCurrentKey(
  { rewrap, currentPrefix }: Pick<Sealer, 'rewrap' | 'currentPrefix'>,
  accountId: string,
  sealed: string,
): string {
  if (sealed.startsWith(currentPrefix())) return sealed;
  try {
    return rewrap(accountId, sealed);
  } catch (error) {
    if (error instanceof SealError) return sealed;
    throw error;
  }
}

const innerContext = (accountId: string) => Buffer.from(`${VERSION}.${accountId}`, 'utf8');
const outerContext = (version: string, keyId: string, accountId: string) =>
  Buffer.from(`${version}.${keyId}.${accountId}`, 'utf8');

interface Parsed {
  version: string;
  keyId: string;
  bytes: Buffer;
}

function parse(sealed: string): Parsed {
  const [version, keyId, body, ...rest] = sealed.split('.');
  const bytes = Buffer.from(body ?? '', 'base64url');
  const whole = bytes.length >= WRAPPED_BYTES + NONCE_BYTES + TAG_BYTES;
  const isKnown = version === VERSION || version === FIRST_VERSION;
  if (!isKnown || keyId === undefined || rest.length > 0 || !whole) {
    throw new SealError('malformed', 'A stored secret does not have the form of one');
  }
  return { version, keyId, bytes };
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
