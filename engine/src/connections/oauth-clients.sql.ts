import type { Sql } from '../db/database.ts';
import { seenBy } from './apps/visible-apps.sql.ts';

/** The owner of clients that the operator has set for all accounts. No account has this id. */
export const INSTANCE = 'instance';

export interface OAuthClientRow {
  app_id: string;
  owner: string;
  client_id: string;
  /** Sealed for the owner; null for a public client. */
  secret: string | null;
  updated_ms: number;
}

const columns = (sql: Sql) => sql`
  c.app_id, c.owner, c.client_id, c.secret, extract(epoch from c.updated_at)::float8 * 1000 as updated_ms`;

/** The clients of these apps that the account may use: its own and the instance's. */
export async function readOAuthClients(
  sql: Sql,
  accountId: string,
  appIds: readonly string[],
): Promise<OAuthClientRow[]> {
  return sql<OAuthClientRow[]>`
    select ${columns(sql)} from oauth_clients c
    where c.app_id = any(${[...appIds]}::text[]) and c.owner in (${accountId}, ${INSTANCE})`;
}

export async function readOAuthClient(sql: Sql, owner: string, appId: string): Promise<OAuthClientRow | undefined> {
  const rows = await sql<OAuthClientRow[]>`
    select ${columns(sql)} from oauth_clients c where c.app_id = ${appId} and c.owner = ${owner}`;
  return rows[0];
}

export interface OwnClientRow extends OAuthClientRow {
  slug: string;
  name: string;
}

export async function readOwnOAuthClients(sql: Sql, owner: string): Promise<OwnClientRow[]> {
  return sql<OwnClientRow[]>`
    select ${columns(sql)}, a.definition ->> 'slug' as slug, a.definition ->> 'name' as name
    from oauth_clients c join all_apps a on a.id = c.app_id and ${seenBy(sql, owner)}
    where c.owner = ${owner} order by a.definition ->> 'slug'`;
}

export async function putOAuthClient(
  sql: Sql,
  client: { appId: string; owner: string; clientId: string; secret: string | null },
): Promise<OAuthClientRow> {
  const { appId, owner, clientId, secret } = client;
  const rows = await sql<OAuthClientRow[]>`
    insert into oauth_clients as c (app_id, owner, client_id, secret) values (${appId}, ${owner}, ${clientId}, ${secret})
    on conflict (app_id, owner) do update
    set client_id = excluded.client_id, secret = excluded.secret, updated_at = now()
    returning ${columns(sql)}`;
  if (rows[0] === undefined) throw new Error(`The OAuth client of ${appId} was stored and did not come back`);
  return rows[0];
}

/** False where there was none. */
export async function deleteOAuthClient(sql: Sql, owner: string, appId: string): Promise<boolean> {
  const rows = await sql`delete from oauth_clients where app_id = ${appId} and owner = ${owner} returning app_id`;
  return rows.length > 0;
}
