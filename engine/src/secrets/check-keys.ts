import { HeadwaterError } from '@headwater/shared';
import type { Sql } from '../store/database.ts';
import { readSealedKeyUse } from '../store/read-sealed-values.ts';
import type { MasterKeys } from './master-key.ts';

/**
 * Throws CONFLICT where a secret in the database needs a key that is not there: at the start, not at the first run or
 * delivery that needs it. A key's name is a hash of it, so one that is there by its name is the right one.
 */
export async function checkKeys(sql: Sql, keys: MasterKeys): Promise<void> {
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
