import type { Sql, Transaction } from '../db/database.ts';
import { notifyConnectedAccountChanged } from '../db/notify-changed.ts';
import { countConnectedAccounts } from './read-connected-accounts.sql.ts';
import { lockAccount } from '../accounts/require-room.sql.ts';

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
