import type { KeyScope } from '@headwater/shared';
import type { ApiKeyRecord } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';

interface Row {
  id: string;
  name: string;
  hint: string;
  scopes: KeyScope[];
  created_ms: number;
  expires_ms: number | null;
  revoked_ms: number | null;
}

/** Those of `ids` that are the account's, in no order. */
export async function readApiKeys(sql: Sql, accountId: string, ids: readonly string[]): Promise<ApiKeyRecord[]> {
  const rows = await sql<Row[]>`
    select id, name, hint, scopes,
      extract(epoch from created_at)::float8 * 1000 as created_ms,
      extract(epoch from expires_at)::float8 * 1000 as expires_ms,
      extract(epoch from revoked_at)::float8 * 1000 as revoked_ms
    from api_keys where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: row.scopes,
    createdAt: new Date(row.created_ms),
    ...(row.expires_ms !== null && { expiresAt: new Date(row.expires_ms) }),
    ...(row.revoked_ms !== null && { revokedAt: new Date(row.revoked_ms) }),
  }));
}
