import type { Principal } from '../contract.ts';
import type { Sql } from './database.ts';

/** Whose keys these are, one for each hash. The one query that has no tenant yet: it finds out which. */
export async function findApiKeys(sql: Sql, keyHashes: readonly Buffer[]): Promise<(Principal | undefined)[]> {
  const rows = await sql<{ key_hash: Buffer; account_id: string; user_id: string }[]>`
    select key_hash, account_id, user_id from api_keys
    where key_hash = any(${keyHashes.map((hash) => `\\x${hash.toString('hex')}`)}::text[]::bytea[]) and revoked_at is null`;
  const byHash = new Map(
    rows.map((row) => [row.key_hash.toString('hex'), { accountId: row.account_id, userId: row.user_id }]),
  );
  return keyHashes.map((hash) => byHash.get(hash.toString('hex')));
}
