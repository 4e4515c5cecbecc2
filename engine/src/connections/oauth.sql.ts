import { lockAccount } from '../accounts/index.ts';
import type { Sql } from '../db/index.ts';
import { seenBy } from './apps/apps.sql.ts';

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

export interface OAuthStateRow {
  account_id: string;
  user_id: string;
  app_id: string;
  /** Sealed. */
  request: string;
  /** The name of the account. */
  workspace: string;
}

export interface NewOAuthState {
  stateHash: Buffer;
  accountId: string;
  userId: string;
  appId: string;
  request: string;
  ttlSeconds: number;
  /** Maximum of one account; the oldest are deleted. */
  maxOpen: number;
}

/** Answers when it expires. */
export async function insertOAuthState(sql: Sql, state: NewOAuthState): Promise<Date> {
  const { accountId, maxOpen } = state;
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    await tx`
      delete from oauth_states where account_id = ${accountId} and (expires_at <= now() or state_hash in (
        select state_hash from oauth_states where account_id = ${accountId}
        order by expires_at desc offset ${maxOpen - 1}))`;
    const rows = await tx<{ expires_ms: number }[]>`
      insert into oauth_states (state_hash, account_id, user_id, app_id, request, expires_at)
      values (${state.stateHash}, ${accountId}, ${state.userId}, ${state.appId}, ${state.request},
        now() + ${state.ttlSeconds}::float8 * interval '1 second')
      returning extract(epoch from expires_at)::float8 * 1000 as expires_ms`;
    return new Date(rows[0]?.expires_ms ?? Date.now());
  });
}

/**
 * The flow of this state, once: of two callbacks with the same state one gets it. Undefined for an
 * expired one too.
 */
export async function takeOAuthState(sql: Sql, stateHash: Buffer): Promise<OAuthStateRow | undefined> {
  const rows = await sql<(OAuthStateRow & { is_open: boolean })[]>`
    delete from oauth_states s using accounts a
    where s.state_hash = ${stateHash} and a.id = s.account_id
    returning s.account_id, s.user_id, s.app_id, s.request, a.name as workspace, s.expires_at > now() as is_open`;
  const [row] = rows;
  return row?.is_open === true ? row : undefined;
}
