import type { Principal } from '../contract.ts';
import type { Sql } from './database.ts';

/** The one query that has no tenant yet: it finds out which. */
export async function findApiKey(sql: Sql, keyHash: Uint8Array): Promise<Principal | undefined> {
  const [row] = await sql<{ account_id: string; user_id: string }[]>`
    select account_id, user_id from api_keys where key_hash = ${keyHash} and revoked_at is null`;
  return row && { accountId: row.account_id, userId: row.user_id };
}
