import type { ApiKeyRecord } from '../contract.ts';
import type { Sql } from './database.ts';

/** Those of `ids` that are the account's, in no order. */
export async function readApiKeys(sql: Sql, accountId: string, ids: readonly string[]): Promise<ApiKeyRecord[]> {
  const rows = await sql<{ id: string; name: string; hint: string; created_ms: number; revoked_ms: number | null }[]>`
    select id, name, hint,
      extract(epoch from created_at)::float8 * 1000 as created_ms,
      extract(epoch from revoked_at)::float8 * 1000 as revoked_ms
    from api_keys where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    hint: row.hint,
    createdAt: new Date(row.created_ms),
    ...(row.revoked_ms !== null && { revokedAt: new Date(row.revoked_ms) }),
  }));
}
