import type { ApiKeyRecord } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';
import { shownScopes } from './limited-scopes.ts';

interface Row {
  id: string;
  name: string;
  hint: string;
  scopes: string[];
  resource: string | null;
  used_ms: number | null;
  created_ms: number;
  expires_ms: number | null;
  revoked_ms: number | null;
}

/** Those of `ids` that are the account's, in no order. */
export async function readApiKeys(sql: Sql, accountId: string, ids: readonly string[]): Promise<ApiKeyRecord[]> {
  const rows = await sql<Row[]>`
    select id, name, hint, scopes, resource,
      extract(epoch from last_used_at)::float8 * 1000 as used_ms,
      extract(epoch from created_at)::float8 * 1000 as created_ms,
      extract(epoch from expires_at)::float8 * 1000 as expires_ms,
      extract(epoch from revoked_at)::float8 * 1000 as revoked_ms
    from api_keys where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    hint: row.hint,
    scopes: shownScopes(row.scopes),
    ...(row.resource !== null && { resource: row.resource }),
    ...(row.used_ms !== null && { lastUsedAt: new Date(row.used_ms) }),
    createdAt: new Date(row.created_ms),
    ...(row.expires_ms !== null && { expiresAt: new Date(row.expires_ms) }),
    ...(row.revoked_ms !== null && { revokedAt: new Date(row.revoked_ms) }),
  }));
}
