import { lockAccount } from '../accounts/index.ts';
import type { AppDefinition } from '../contract/index.ts';
import { notifyConnectedAccountChanged, type Sql, type Transaction } from '../db/index.ts';
import { seenBy } from './apps/apps.sql.ts';

export async function renameConnectedAccount(
  sql: Sql,
  accountId: string,
  id: string,
  name: string | null,
): Promise<void> {
  await sql`
    update connected_accounts set name = ${name}, updated_at = now()
    where account_id = ${accountId} and id = ${id} and deleted_at is null`;
}

/**
 * Records the result of a check or refresh, if the credentials are unchanged. A check does not end
 * a refresh lease.
 */
export async function recordHealth(
  sql: Sql,
  accountId: string,
  id: string,
  found: { version: number; state: 'healthy' | 'dead'; reason: string | null; isCheck: boolean },
): Promise<void> {
  const { version, state, reason, isCheck } = found;
  await sql.begin(async (tx) => {
    const rows = await tx`
      update connected_accounts
      set state = ${state}, reason = ${reason}, refresh_until = case when ${isCheck} then refresh_until end,
        checked_at = case when ${isCheck} then now() else checked_at end
      where account_id = ${accountId} and id = ${id} and version = ${version} and deleted_at is null
      returning id`;
    if (rows.length > 0) await notifyConnectedAccountChanged(tx, id);
  });
}

/**
 * Deletes the credentials and returns them, or undefined if the account is deleted already. The row
 * stays, to record the revocation.
 */
export async function deleteConnectedAccount(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<{ credentials: string } | undefined> {
  return sql.begin(async (tx) => {
    const [row] = await tx<{ credentials: string }[]>`
      with last as (
        select id, credentials from connected_accounts
        where account_id = ${accountId} and id = ${id} and deleted_at is null for update)
      update connected_accounts a set deleted_at = now(), credentials = null, version = version + 1, refresh_until = null
      from last where a.id = last.id
      returning last.credentials`;
    if (row !== undefined) await notifyConnectedAccountChanged(tx, id);
    return row;
  });
}

export async function recordRevocation(sql: Sql, accountId: string, id: string, revocation: string): Promise<void> {
  await sql`
    update connected_accounts set revocation = ${revocation} where account_id = ${accountId} and id = ${id}`;
}

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

async function countConnectedAccounts(sql: Sql | Transaction, accountId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from connected_accounts where account_id = ${accountId} and deleted_at is null`;
  return row?.count ?? 0;
}

/**
 * Deleted accounts whose rows are kept, newest first. They record whether the tokens were revoked.
 */
const KEPT_DELETED = 1_000;

/** Values that a new connection stores, for a new account and for a reconnected one. */
export interface ConnectedCredentials {
  /** Sealed. */
  credentials: string;
  uid: string | null;
  scopes: readonly string[];
  clientOwner: string | null;
  /** How long the access token lives, and after how long a new one is due; null: for ever. */
  expiresInSeconds: number | null;
  refreshInSeconds: number | null;
}

export interface NewConnectedAccount extends ConnectedCredentials {
  id: string;
  accountId: string;
  userId: string;
  appId: string;
  name: string | null;
}

/** False where the account has `maxAccounts` of them. */
export async function insertConnectedAccount(
  sql: Sql,
  account: NewConnectedAccount,
  maxAccounts: number,
): Promise<boolean> {
  const { accountId } = account;
  return sql.begin(async (tx) => {
    await lockAccount(tx, accountId);
    if ((await countConnectedAccounts(tx, accountId)) >= maxAccounts) return false;
    await tx`
      delete from connected_accounts where account_id = ${accountId} and id in (
        select id from connected_accounts where account_id = ${accountId} and deleted_at is not null
        order by deleted_at desc, id desc offset ${KEPT_DELETED})`;
    await insertRow(tx, account);
    return true;
  });
}

async function insertRow(sql: Transaction, account: NewConnectedAccount): Promise<void> {
  const { id, accountId, userId, appId, name } = account;
  await sql`
    insert into connected_accounts (id, account_id, user_id, app_id, name, uid, scopes, client_owner, credentials,
      expires_at, refresh_at)
    values (${id}, ${accountId}, ${userId}, ${appId}, ${name}, ${account.uid}, ${[...account.scopes]},
      ${account.clientOwner}, ${account.credentials}, ${inSeconds(sql, account.expiresInSeconds)},
      ${inSeconds(sql, account.refreshInSeconds)})`;
}

/**
 * Replaces the credentials and marks the account healthy. With `version`, only if the stored
 * credentials still have it. Returns false if the account does not exist or has newer credentials.
 */
export async function replaceCredentials(
  sql: Sql,
  accountId: string,
  id: string,
  change: ConnectedCredentials & { version?: number },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update connected_accounts
      set credentials = ${change.credentials}, uid = coalesce(${change.uid}, uid), scopes = ${[...change.scopes]},
        client_owner = ${change.clientOwner}, version = version + 1, state = 'healthy', reason = null,
        expires_at = ${inSeconds(tx, change.expiresInSeconds)}, refresh_at = ${inSeconds(tx, change.refreshInSeconds)},
        refresh_until = null, updated_at = now()
      where account_id = ${accountId} and id = ${id} and deleted_at is null
        ${change.version === undefined ? tx`` : tx`and version = ${change.version}`}
      returning id`;
    if (rows.length > 0) await notifyConnectedAccountChanged(tx, id);
    return rows.length > 0;
  });
}

function inSeconds(sql: Sql | Transaction, seconds: number | null) {
  return seconds === null ? sql`null` : sql`now() + ${seconds}::float8 * interval '1 second'`;
}

/**
 * Takes the right to fetch new tokens for these credentials, on one node at a time: a refresh token
 * that is used twice may end all tokens of the account. Answers until when, which tells it from a
 * later one; undefined where another node has it, or where the credentials are others by now.
 */
export async function leaseRefresh(
  sql: Sql,
  accountId: string,
  id: string,
  lease: { version: number; seconds: number },
): Promise<string | undefined> {
  const rows = await sql<{ until: string }[]>`
    update connected_accounts set refresh_until = now() + ${lease.seconds}::float8 * interval '1 second'
    where account_id = ${accountId} and id = ${id} and version = ${lease.version} and deleted_at is null
      and (refresh_until is null or refresh_until <= now())
    returning refresh_until::text as until`;
  return rows[0]?.until;
}

/** Releases the lease after a failed fetch, so that another node may try. */
export async function endRefreshLease(
  sql: Sql,
  accountId: string,
  id: string,
  lease: { version: number; until: string },
): Promise<void> {
  await sql`
    update connected_accounts set refresh_until = null
    where account_id = ${accountId} and id = ${id} and version = ${lease.version}
      and refresh_until = ${lease.until}::timestamptz`;
}
