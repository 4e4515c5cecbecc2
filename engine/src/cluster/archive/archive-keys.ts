import { createCipheriv, createDecipheriv, createHmac, randomBytes, scrypt } from 'node:crypto';
import { HeadwaterError } from '@headwater/shared';

/*
 * A passphrase protects an archive twice. Secrets in it are sealed with AES-256-GCM, and an HMAC
 * over all lines shows that no one without the passphrase has changed it.
 */

/** In the head of an archive. */
export interface KeyDerivation {
  salt: string;
  n: number;
  r: number;
  p: number;
}

export interface ArchiveKeys {
  /** `place`: kind, id and prop of the secret. It opens at this place alone. */
  seal(place: string, plaintext: string): string;
  /** Throws INVALID_REQUEST. */
  open(place: string, sealed: string): string;
  mac(): ReturnType<typeof createHmac>;
}

const MIN_PASSPHRASE_CHARS = 12;
const MAX_PASSPHRASE_CHARS = 256;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';
/** OWASP's parameters: 128 MB and about half a second, beside the thread. */
const COST = { n: 2 ** 17, r: 8, p: 1 };
const MAX_MEMORY = 256 * 1024 * 1024;

export function newDerivation(): KeyDerivation {
  return { salt: randomBytes(SALT_BYTES).toString('base64url'), ...COST };
}

/** Throws INVALID_REQUEST for a passphrase that is too short, and for costs that are not ours. */
export async function deriveKeys(passphrase: string, { salt, n, r, p }: KeyDerivation): Promise<ArchiveKeys> {
  if (passphrase.length < MIN_PASSPHRASE_CHARS || passphrase.length > MAX_PASSPHRASE_CHARS)
    throw new HeadwaterError(
      'INVALID_REQUEST',
      `The passphrase must have ${MIN_PASSPHRASE_CHARS} to ${MAX_PASSPHRASE_CHARS} characters`,
    );
  // The archive may be a stranger's, and its costs any amount of memory.
  if (n !== COST.n || r !== COST.r || p !== COST.p)
    throw new HeadwaterError('INVALID_REQUEST', 'The archive has a key derivation that this version does not know');
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const options = { N: n, r, p, maxmem: MAX_MEMORY };
    scrypt(passphrase.normalize('NFC'), Buffer.from(salt, 'base64url'), 2 * KEY_BYTES, options, (error, made) =>
      error === null ? resolve(made) : reject(error),
    );
  });
  const [key, macKey] = [bytes.subarray(0, KEY_BYTES), bytes.subarray(KEY_BYTES)];
  return {
    seal(place, plaintext) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
      const body = [nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(body).toString('base64url');
    },
    open(place, sealed) {
      const all = Buffer.from(sealed, 'base64url');
      try {
        const decipher = createDecipheriv(ALGORITHM, key, all.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
        decipher.setAAD(Buffer.from(place)).setAuthTag(all.subarray(-TAG_BYTES));
        const plain = [decipher.update(all.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()];
        return Buffer.concat(plain).toString('utf8');
      } catch (cause) {
        throw new HeadwaterError('INVALID_REQUEST', `The secret ${place} of the archive does not open`, { cause });
      }
    },
    mac: () => createHmac('sha256', macKey),
  };
}
