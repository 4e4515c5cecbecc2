import { HeadwaterError } from '@headwater/shared';
import type { Sql } from '../db/index.ts';
import { claimEncryptionKey, readEncryptionKeys } from './encryption-keys.sql.ts';
import { readSealedKeyUse } from './read-sealed-values.sql.ts';
import type { LoadedMasterKeys, MasterKeys } from './master-key.ts';

/**
 * Throws CONFLICT where a secret in the database needs a key that is not there: at the start, not
 * at the first run or delivery that needs it. A key's name is a hash of it, so one that is there by
 * its name is the right one.
 */
export async function checkSealedKeys(sql: Sql, keys: MasterKeys): Promise<void> {
  const used = await readSealedKeyUse(sql);
  const missing = used.filter(({ keyId }) => keyId !== '' && keys.find(keyId) === undefined);
  if (missing.length === 0) return;
  const which = missing.map(({ keyId, count }) => `${keyId} (${count} of them)`).join(', ');
  throw new HeadwaterError(
    'CONFLICT',
    `Secrets in the database are sealed with an encryption key that this node does not have: ${which}. It has ` +
      `${keys.current().id}. Set HEADWATER_ENCRYPTION_KEY to the key that was used before, or add that one to ` +
      'HEADWATER_ENCRYPTION_KEYS_OLD.',
  );
}

/** As claimKey, and changes nothing. */
export async function checkKeys(sql: Sql, loaded: LoadedMasterKeys): Promise<void> {
  await checkSealedKeys(sql, loaded.keys);
  refuseUnknown(loaded, await unknownKeys(sql, loaded.keys));
}

/**
 * Records in the database that this node seals with its key. Throws CONFLICT if other nodes seal
 * with a key that this node lacks, even if nothing is sealed yet. Neither could open the secrets of
 * the other.
 */
export async function claimKey(sql: Sql, loaded: LoadedMasterKeys): Promise<void> {
  const { keys } = loaded;
  await checkSealedKeys(sql, keys);
  refuseUnknown(loaded, await claimEncryptionKey(sql, keys.current().id, (id) => keys.find(id) !== undefined));
}

/** Names of keys that nodes seal with and that are not there. */
export async function unknownKeys(sql: Sql, keys: MasterKeys): Promise<string[]> {
  return (await readEncryptionKeys(sql)).filter((id) => keys.find(id) === undefined);
}

function refuseUnknown(
  { keys, file = 'HEADWATER_ENCRYPTION_KEY' }: LoadedMasterKeys,
  unknown: readonly string[],
): void {
  if (unknown.length === 0) return;
  throw new HeadwaterError(
    'CONFLICT',
    `The nodes of this database use the encryption key ${unknown.join(', ')}, which this node does not have (its own, ` +
      `from ${file}, is ${keys.current().id}): set HEADWATER_ENCRYPTION_KEY to theirs (a node without the variable has ` +
      'it in encryption-key in its data folder), or, to replace the key, add theirs to HEADWATER_ENCRYPTION_KEYS_OLD ' +
      'and run npm run secrets:rotate.',
  );
}
