import { createHash, randomBytes, scryptSync } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { HeadwaterError } from '@headwater/shared';
import { keepSecretFile, prepareDataDir, replaceSecretFile } from '../db/index.ts';

/**
 * `id` names the key in sealed texts: a hash of it, so that the same key has the same name on every
 * node.
 */
export interface MasterKey {
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

/** The keys of a node. Both methods see a key file that was changed meanwhile. */
export interface MasterKeys {
  /** The one that seals. */
  current(): MasterKey;
  /** One that opens. */
  find(id: string): MasterKey | undefined;
}

export interface LoadMasterKeysOptions {
  /** HEADWATER_ENCRYPTION_KEY. */
  encryptionKey?: string;
  /** HEADWATER_ENCRYPTION_KEYS_OLD: keys that open and do not seal. */
  oldEncryptionKeys?: readonly string[];
  dataDir: string;
  /** False with DATABASE_URL: other nodes may use the same database, and need the same keys. */
  embedded: boolean;
}

export interface LoadedMasterKeys {
  keys: MasterKeys;
  /** Path of the key file; absent if the keys are configured. */
  file?: string;
  /** Something the operator should know. */
  warning?: string;
}

const KEY_BYTES = 32;
const MIN_PASSPHRASE_CHARS = 20;
export const KEY_FILE = 'encryption-key';
/**
 * Fixed, so that every node makes the same key of the same passphrase; what a salt would guard
 * against, many passphrases attacked at once, needs many installations' databases.
 */
const PASSPHRASE_SALT = 'headwater/encryption-key/v1';
/** OWASP's parameters for scrypt: 128 MB, about half a second, once per start. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };

/**
 * The keys that everything secret in the database is sealed with: the configured ones (32 bytes in
 * hex or base64, or a passphrase of 20 characters and more), else those in
 * `<dataDir>/encryption-key`, a line each, the first of which seals; a random one is put there at
 * the first start. Throws INVALID_REQUEST for a key that is too weak.
 */
export async function loadMasterKeys(options: LoadMasterKeysOptions): Promise<LoadedMasterKeys> {
  const old = (options.oldEncryptionKeys ?? []).map((text) => keyFromText(text, 'HEADWATER_ENCRYPTION_KEYS_OLD'));
  if (options.encryptionKey !== undefined) {
    return { keys: fixedKeys([keyFromText(options.encryptionKey, 'HEADWATER_ENCRYPTION_KEY'), ...old]) };
  }
  const dataDir = await prepareDataDir(options.dataDir);
  await keepSecretFile(dataDir, KEY_FILE, randomKey);
  const file = path.join(dataDir, KEY_FILE);
  const keys = keysInFile(file, old);
  if (options.embedded) return { keys, file };
  const warning =
    `HEADWATER_ENCRYPTION_KEY is not set: secrets are sealed with the key in ${file}. ` +
    'Every node on this database needs the same one, and a backup of the database is worth nothing without it.';
  return { keys, file, warning };
}

/** The first seals. */
export function fixedKeys(keys: readonly MasterKey[]): MasterKeys {
  const [first] = keys;
  if (first === undefined) throw new Error('There must be at least one master key');
  const byId = new Map(keys.map((key) => [key.id, key]));
  return { current: () => first, find: (id) => byId.get(id) };
}

/**
 * Puts a new random key first in the file; the others stay, for what they have sealed. A running
 * node takes it up by itself.
 */
export async function addRandomKey(file: string): Promise<void> {
  await replaceSecretFile(file, `${randomKey()}\n${readFileSync(file, 'utf8').trim()}`);
}

const randomKey = () => randomBytes(KEY_BYTES).toString('hex');

/**
 * Looked at before each sealing, which is rare: nothing may be sealed with a key that has been
 * replaced.
 */
function keysInFile(file: string, old: readonly MasterKey[]): MasterKeys {
  const read = () => fixedKeys([...readKeys(file), ...old]);
  let version = versionOf(file);
  let keys = read();
  const refresh = () => {
    const seen = versionOf(file);
    if (seen === undefined || seen === version) return;
    try {
      keys = read();
    } catch (cause) {
      throw new HeadwaterError('INTERNAL', `The keys in ${file} were changed and cannot be read`, { cause });
    }
    version = seen;
  };
  return {
    current() {
      refresh();
      return keys.current();
    },
    find(id) {
      const known = keys.find(id);
      if (known !== undefined) return known;
      refresh();
      return keys.find(id);
    },
  };
}

/** Undefined where the file is gone: what was read is what there is. */
function versionOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats && `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}

function readKeys(file: string): MasterKey[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const keys = lines.filter((line) => line.trim() !== '').map((line) => keyFromText(line, `Each line of ${file}`));
  if (keys.length === 0) throw new HeadwaterError('INVALID_REQUEST', `${file} is empty; put it back from a backup`);
  return keys;
}

function masterKeyOf(key: Buffer): MasterKey {
  // 48 bits of a hash of 256 random ones tell keys apart and say nothing about them.
  const id = createHash('sha256').update('headwater/key-id').update(key).digest('hex').slice(0, 12);
  return { id, key };
}

const HEX_KEY = /^[0-9a-f]{64}$/i;
const BASE64_KEY = /^[A-Za-z0-9+/_-]{43}=?$/;
/** Finishes the sentence "… must be". */
export const ENCRYPTION_KEY_FORM = `32 bytes in hex or base64, or a passphrase of at least ${MIN_PASSPHRASE_CHARS} characters`;

/**
 * Whether a text is a key that `loadMasterKeys` takes; without the half second that a passphrase
 * takes.
 */
export function isEncryptionKey(text: string): boolean {
  const trimmed = text.trim();
  return HEX_KEY.test(trimmed) || BASE64_KEY.test(trimmed) || trimmed.length >= MIN_PASSPHRASE_CHARS;
}

function keyFromText(text: string, where: string): MasterKey {
  if (!isEncryptionKey(text)) throw new HeadwaterError('INVALID_REQUEST', `${where} must be ${ENCRYPTION_KEY_FORM}`);
  const trimmed = text.trim();
  if (HEX_KEY.test(trimmed)) return masterKeyOf(Buffer.from(trimmed, 'hex'));
  if (BASE64_KEY.test(trimmed)) return masterKeyOf(Buffer.from(trimmed, 'base64'));
  return masterKeyOf(scryptSync(trimmed, PASSPHRASE_SALT, KEY_BYTES, SCRYPT));
}
