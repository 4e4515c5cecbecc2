import type { Sql, Transaction } from '../db/database.ts';

export interface ApiKeyRow {
  id: string;
  accountId: string;
  userId: string;
  name: string;
  hash: Uint8Array;
  hint: string;
  /** Default: `full`. */
  scopes?: readonly string[];
  /** Default: it does not expire. */
  expiresAt?: Date;
  /** It is the key of a portal link. Default false. */
  isOfPortal?: boolean;
}

export async function insertApiKey(tx: Sql | Transaction, key: ApiKeyRow): Promise<Date> {
  const [row] = await tx<{ created_ms: number }[]>`
    insert into api_keys (id, account_id, user_id, name, key_hash, hint, scopes, expires_at, of_portal)
    values (${key.id}, ${key.accountId}, ${key.userId}, ${key.name}, ${key.hash}, ${key.hint},
      ${[...(key.scopes ?? ['full'])]}::text[], ${key.expiresAt?.toISOString() ?? null}::timestamptz, ${key.isOfPortal ?? false})
    returning extract(epoch from created_at)::float8 * 1000 as created_ms`;
  return new Date(row?.created_ms ?? Date.now());
}
