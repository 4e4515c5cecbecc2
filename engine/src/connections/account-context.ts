import { HeadwaterError, notFound } from '@headwater/shared';
import type { AppDefinition, ConnectedAccountRecord, Log } from '../contract/index.ts';
import type { Sealer } from '../secrets/index.ts';
import type { Sql } from '../db/index.ts';
import { INSTANCE, type OAuthClientRow, readOAuthClient } from './oauth.sql.ts';
import { type ConnectedAccountRow, readConnectedAccounts } from './connected-accounts.sql.ts';
import type { AskProvider } from './provider-request.ts';
import type { StoredCredentials } from './stored-credentials.ts';
import type { OAuthClient, OAuthParty } from './token-endpoint.ts';

/** Dependencies of all code for connected accounts. */
export interface AccountContext {
  sql: Sql;
  sealer: Pick<Sealer, 'seal' | 'open'>;
  ask: AskProvider;
  log: Log;
}

export async function findAccount(sql: Sql, accountId: string, id: string): Promise<ConnectedAccountRow | undefined> {
  if (id.includes('\0')) return undefined;
  const [row] = await readConnectedAccounts(sql, accountId, [id]);
  return row;
}

/** Throws NOT_FOUND. */
export async function requireAccount(sql: Sql, accountId: string, id: string): Promise<ConnectedAccountRow> {
  const row = await findAccount(sql, accountId, id);
  if (row === undefined) throw notFound('connected account', id);
  return row;
}

/** Throws SealError. */
export function openCredentials(sealer: AccountContext['sealer'], row: ConnectedAccountRow): StoredCredentials {
  return JSON.parse(sealer.open(row.account_id, row.credentials)) as StoredCredentials;
}

export function sealCredentials(
  sealer: AccountContext['sealer'],
  accountId: string,
  credentials: StoredCredentials,
): string {
  return sealer.seal(accountId, JSON.stringify(credentials));
}

/**
 * The account's own client for an app, else the instance's. Throws CONFLICT where there is neither.
 */
export async function clientFor(
  { sql, sealer }: AccountContext,
  accountId: string,
  app: { id: string; definition: AppDefinition },
): Promise<OAuthClient> {
  const row = (await readOAuthClient(sql, accountId, app.id)) ?? (await readOAuthClient(sql, INSTANCE, app.id));
  if (row !== undefined) return openClient(sealer, row);
  const { slug, name } = app.definition;
  throw new HeadwaterError(
    'CONFLICT',
    `There is no OAuth client for ${name}: register one there and set it with PUT /v1/users/me/oauth_clients/${slug}, ` +
      `or ask the operator to set one for all accounts with PUT /v1/apps/${slug}/oauth_client`,
  );
}

/** The client that got an account's tokens; undefined if it has been deleted. */
export async function clientOf(
  { sql, sealer }: AccountContext,
  owner: string | null,
  appId: string,
): Promise<OAuthClient | undefined> {
  const row = owner === null ? undefined : await readOAuthClient(sql, owner, appId);
  return row && openClient(sealer, row);
}

function openClient(sealer: AccountContext['sealer'], row: OAuthClientRow): OAuthClient {
  const { owner, client_id: clientId, secret } = row;
  return { owner, clientId, ...(secret === null ? {} : { clientSecret: sealer.open(owner, secret) }) };
}

/** Undefined where the app is no OAuth app, or its client is gone. */
export async function partyOf(
  context: AccountContext,
  row: ConnectedAccountRow,
  fields: Readonly<Record<string, string>>,
): Promise<OAuthParty | undefined> {
  const { oauth } = row.definition;
  const client = await clientOf(context, row.client_owner, row.app_id);
  if (oauth === undefined || client === undefined) return undefined;
  return { accountId: row.account_id, oauth, client, fields };
}

export function recordOf(row: ConnectedAccountRow): ConnectedAccountRecord {
  const { slug, name, authType } = row.definition;
  return {
    id: row.id,
    userId: row.user_id,
    app: { id: row.app_id, slug, name, authType },
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.uid === null ? {} : { uid: row.uid }),
    scopes: row.scopes,
    state: row.state,
    ...(row.reason === null ? {} : { reason: row.reason }),
    ...(row.checked_ms === null ? {} : { checkedAt: new Date(row.checked_ms) }),
    ...(row.expires_ms === null ? {} : { expiresAt: new Date(row.expires_ms) }),
    createdAt: new Date(row.created_ms),
    updatedAt: new Date(row.updated_ms),
  };
}
