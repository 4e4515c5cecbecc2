import { createHash, randomBytes, scryptSync } from 'node:crypto';
import { HeadwaterError } from '@headwater/shared';
import { keepSecretFile, prepareDataDir } from '../database/data-dir.ts';

/** `id` names the key in sealed texts: a hash of it, so that the same key has the same name on every node. */
export interface MasterKey {
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

export interface LoadMasterKeyOptions {
  /** HEADWATER_ENCRYPTION_KEY. */
  encryptionKey?: string;
  dataDir: string;
  /** False with DATABASE_URL: other nodes may use the same database, and need the same key. */
  embedded: boolean;
}

export interface LoadedMasterKey {
  masterKey: MasterKey;
  /** Something the operator should know. */
  warning?: string;
}

const KEY_BYTES = 32;
const MIN_PASSPHRASE_CHARS = 20;
const KEY_FILE = 'encryption-key';
/**
 * Fixed, so that every node makes the same key of the same passphrase; what a salt would guard against, many passphrases
 * attacked at once, needs many installations' databases.
 */
const PASSPHRASE_SALT = 'headwater/encryption-key/v1';
/** OWASP's parameters for scrypt: 128 MB, about half a second, once per start. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/**
 * The key that everything secret in the database is sealed with: the configured one (32 bytes in hex or base64, or a
 * passphrase of 20 characters and more), else a random one kept in `<dataDir>/encryption-key`. Throws INVALID_REQUEST for
 * a configured key that is too weak.
 */
export async function loadMasterKey(options: LoadMasterKeyOptions): Promise<LoadedMasterKey> {
  if (options.encryptionKey !== undefined) return { masterKey: masterKeyOf(keyFromText(options.encryptionKey)) };
  const dataDir = await prepareDataDir(options.dataDir);
  const text = await keepSecretFile(dataDir, KEY_FILE, () => randomBytes(KEY_BYTES).toString('hex'));
  const masterKey = masterKeyOf(keyFromText(text));
  if (options.embedded) return { masterKey };
  const warning =
    `HEADWATER_ENCRYPTION_KEY is not set: secrets are sealed with the key in ${dataDir}/${KEY_FILE}. ` +
    'Every node on this database needs the same one, and a backup of the database is worth nothing without it.';
  return { masterKey, warning };
}

function masterKeyOf(key: Buffer): MasterKey {
  // 48 bits of a hash of 256 random ones tell keys apart and say nothing about them.
  const id = createHash('sha256').update('headwater/key-id').update(key).digest('hex').slice(0, 12);
  return { id, key };
}

function keyFromText(text: string): Buffer {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, 'base64');
  if (trimmed.length >= MIN_PASSPHRASE_CHARS) return scryptSync(trimmed, PASSPHRASE_SALT, KEY_BYTES, SCRYPT);
  throw new HeadwaterError(
    'INVALID_REQUEST',
    `HEADWATER_ENCRYPTION_KEY must be 32 bytes in hex or base64, or a passphrase of at least ${MIN_PASSPHRASE_CHARS} characters`,
  );
}
