import type { KeyScope } from '@headwater/shared';
import type { Principal } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';

/**
 * Whose keys these are, one for each hash. The one query that has no tenant yet: it finds out
 * which.
 */
export async function findApiKeys(sql: Sql, keyHashes: readonly Buffer[]): Promise<(Principal | undefined)[]> {
  const rows = await sql<{ key_hash: Buffer; account_id: string; user_id: string; scopes: KeyScope[] }[]>`
    select key_hash, account_id, user_id, scopes from api_keys
    where key_hash = any(${keyHashes.map((hash) => `\\x${hash.toString('hex')}`)}::text[]::bytea[]) and revoked_at is null
      and (expires_at is null or expires_at > now())`;
  const byHash = new Map(
    rows.map(({ key_hash: hash, account_id: accountId, user_id: userId, scopes }) => [
      hash.toString('hex'),
      { accountId, userId, ...(scopes.includes('full') ? {} : { scopes }) },
    ]),
  );
  return keyHashes.map((hash) => byHash.get(hash.toString('hex')));
}
