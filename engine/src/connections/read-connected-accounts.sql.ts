import type { AppDefinition } from '../contract/app-definition.ts';
import type { Sql, Transaction } from '../db/database.ts';
import { seenBy } from './apps/visible-apps.sql.ts';

/** A connected account with its app. */
export interface ConnectedAccountRow {
  id: string;
  account_id: string;
  user_id: string;
  app_id: string;
  definition: AppDefinition;
  name: string | null;
  uid: string | null;
  scopes: string[];
  client_owner: string | null;
  /** Sealed. */
  credentials: string;
  version: number;
  state: 'healthy' | 'dead';
  reason: string | null;
  checked_ms: number | null;
  expires_ms: number | null;
  /** Milliseconds from now by the clock of the database, which all nodes share; null: never. */
  expires_in_ms: number | null;
  refresh_in_ms: number | null;
  /** A node fetches a new token. */
  is_leased: boolean;
  created_ms: number;
  updated_ms: number;
}

/** Those of `ids` that are the account's and not deleted, in no order. */
export async function readConnectedAccounts(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<ConnectedAccountRow[]> {
  const ms = (column: string) => sql`extract(epoch from c.${sql(column)})::float8 * 1000`;
  return sql<ConnectedAccountRow[]>`
    select c.id, c.account_id, c.user_id, c.app_id, a.definition, c.name, c.uid, c.scopes, c.client_owner, c.credentials,
      c.version, c.state, c.reason, ${ms('checked_at')} as checked_ms, ${ms('expires_at')} as expires_ms,
      extract(epoch from c.expires_at - now())::float8 * 1000 as expires_in_ms,
      extract(epoch from c.refresh_at - now())::float8 * 1000 as refresh_in_ms,
      coalesce(c.refresh_until > now(), false) as is_leased,
      ${ms('created_at')} as created_ms, ${ms('updated_at')} as updated_ms
    from connected_accounts c join all_apps a on a.id = c.app_id and ${seenBy(sql, accountId)}
    where c.account_id = ${accountId} and c.id = any(${[...ids]}::text[]) and c.deleted_at is null`;
}

export async function countConnectedAccounts(sql: Sql | Transaction, accountId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from connected_accounts where account_id = ${accountId} and deleted_at is null`;
  return row?.count ?? 0;
}
