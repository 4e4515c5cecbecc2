import type { Sql, Transaction } from '../db/database.ts';

/**
 * Makes a key of the account valid again. Answers the account that has the key, whichever that is;
 * undefined: none.
 */
export async function restoreApiKey(
  tx: Sql | Transaction,
  keyHash: Uint8Array,
  accountId: string,
): Promise<string | undefined> {
  await tx`update api_keys set revoked_at = null where key_hash = ${keyHash} and account_id = ${accountId}`;
  const [row] = await tx<{ account_id: string }[]>`select account_id from api_keys where key_hash = ${keyHash}`;
  return row?.account_id;
}
