import { HeadwaterError, newId, notFound } from '@headwater/shared';
import { findNamedApp } from './apps/apps.ts';
import type { ConnectedAccountCreate, ConnectedAccounts, DeletedAccount, Principal } from '../contract/index.ts';
import {
  type ConnectedAccountRow,
  deleteConnectedAccount,
  readConnectedAccounts,
  recordRevocation,
  renameConnectedAccount,
  replaceCredentials,
} from './connected-accounts.sql.ts';
import { inPageOrder, readPage, type Sql } from '../db/index.ts';
import { searchAppIds } from './apps/apps.sql.ts';
import {
  type AccountContext,
  openCredentials,
  partyOf,
  recordOf,
  requireAccount,
  sealCredentials,
} from './account-context.ts';
import { addConnectedAccount } from './add-connected-account.ts';
import { checkAccount } from './check-account.ts';
import { finishOAuth } from './finish-oauth.ts';
import { createAnonymousLookups } from '../fairness/index.ts';
import type { AccountResolver } from './share-resolves.ts';
import type { AuthOutcome } from './resolve-auth.ts';
import { type OAuthOptions, startOAuth } from './start-oauth.ts';
import { authOf } from './stored-credentials.ts';
import { type RevokeOutcome, revokeTokens } from './token-endpoint.ts';
import { validateFields } from './validate-credentials.ts';

/** Connected accounts as the API sees them. `forget` drops what this node has in memory of one. */
export function createConnectedAccounts(
  context: AccountContext & Pick<AccountResolver, 'resolve' | 'forget'>,
  options: OAuthOptions,
): ConnectedAccounts {
  const { sql, forget } = context;
  const inTurn = createAnonymousLookups();
  const find = async (who: Principal, id: string) => recordOf(await requireAccount(sql, who.accountId, id));
  return {
    create: async (who, input) => find(who, await createWithKeys(context, who, input)),
    async list(who, { app, query: text, ...request }) {
      const appIds = await appIdsOf(sql, who.accountId, app, text);
      const ofApps = appIds === undefined ? sql`` : sql`and app_id = any(${appIds}::text[])`;
      const where = sql`and deleted_at is null ${ofApps}`;
      const query = { table: 'connected_accounts', accountId: who.accountId, where, order: 'created' } as const;
      const { ids, ...page } = await readPage(sql, query, request);
      const rows = inPageOrder(ids, await readConnectedAccounts(sql, who.accountId, ids));
      return { ...page, items: rows.map(recordOf) };
    },
    get: find,
    async getWithCredentials(who, id) {
      await requireAccount(sql, who.accountId, id);
      const outcome = await context.resolve(who.accountId, id);
      if (!outcome.ok) throw authFailed(outcome);
      const { row, credentials } = outcome.account;
      return { account: recordOf(row), credentials: authOf(credentials) };
    },
    async update(who, id, change) {
      const row = await requireAccount(sql, who.accountId, id);
      if (change.credentials !== undefined) await replaceKeys(context, row, change.credentials);
      if (change.name !== undefined) await renameConnectedAccount(sql, who.accountId, id, change.name || null);
      forget(id);
      return find(who, id);
    },
    async check(who, id) {
      const outcome = await checkAccount(context, who.accountId, id);
      forget(id);
      return outcome;
    },
    async delete(who, id) {
      const deleted = await deleteAccount(context, who, id);
      forget(id);
      return deleted;
    },
    startOAuth: (who, input) => startOAuth(context, options, who, input),
    async finishOAuth(callback, around = (_, connect) => connect()) {
      const outcome = await finishOAuth(context, options, callback, { inTurn, around });
      if (outcome.ok) forget(outcome.account.id);
      return outcome;
    },
  };
}

function authFailed({ message, limit }: Extract<AuthOutcome, { ok: false }>): HeadwaterError {
  return new HeadwaterError('AUTH_FAILED', message, limit === undefined ? {} : { limit });
}

/** Undefined: of every app. */
async function appIdsOf(
  sql: Sql,
  accountId: string,
  app: string | undefined,
  query: string | undefined,
): Promise<string[] | undefined> {
  if (app !== undefined) return [(await findNamedApp(sql, accountId, app)).id];
  return query === undefined ? undefined : searchAppIds(sql, accountId, query);
}

const NO_TOKENS = { uid: null, scopes: [], clientOwner: null, expiresInSeconds: null, refreshInSeconds: null } as const;

async function createWithKeys(context: AccountContext, who: Principal, input: ConnectedAccountCreate): Promise<string> {
  const { sql, sealer } = context;
  const app = await findNamedApp(sql, who.accountId, input.app);
  const { slug, authType } = app.definition;
  if (authType !== 'keys') {
    const message = authType === 'none' ? `${slug} needs no account` : `${slug} is connected by OAuth: start a flow`;
    throw new HeadwaterError('INVALID_REQUEST', message, { fields: [{ path: 'app', message }] });
  }
  const fields = validateFields(app.definition, input.credentials, 'credentials');
  const id = newId('connectedAccount');
  const credentials = sealCredentials(sealer, who.accountId, { fields });
  const place = { id, accountId: who.accountId, userId: who.userId, appId: app.id, name: input.name || null };
  await addConnectedAccount(sql, { ...NO_TOKENS, ...place, credentials });
  return id;
}

async function replaceKeys(
  { sql, sealer }: AccountContext,
  row: ConnectedAccountRow,
  given: Record<string, unknown>,
): Promise<void> {
  if (row.definition.authType !== 'keys') {
    const message = 'are the provider’s to give: start a flow with connected_account_id';
    throw new HeadwaterError('INVALID_REQUEST', `credentials ${message}`, {
      fields: [{ path: 'credentials', message }],
    });
  }
  const fields = validateFields(row.definition, given, 'credentials');
  const credentials = sealCredentials(sealer, row.account_id, { fields });
  await replaceCredentials(sql, row.account_id, row.id, { ...NO_TOKENS, credentials });
}

/**
 * Deletes the account here first, whatever the provider answers, then asks the provider once to
 * revoke the tokens.
 */
async function deleteAccount(context: AccountContext, who: Principal, id: string): Promise<DeletedAccount> {
  const { sql, log } = context;
  const row = await requireAccount(sql, who.accountId, id);
  const deleted = await deleteConnectedAccount(sql, who.accountId, id);
  if (deleted === undefined) throw notFound('connected account', id);
  // Those that it had at last: they may have been renewed since it was read.
  const revocation = await revoke(context, { ...row, ...deleted });
  await recordRevocation(sql, who.accountId, id, `${revocation.status}: ${revocation.detail}`);
  if (revocation.status === 'failed')
    log.info({ connected_account: id }, 'tokens of a deleted account were not revoked');
  return { id, revocation };
}

async function revoke(context: AccountContext, row: ConnectedAccountRow): Promise<RevokeOutcome> {
  try {
    const { oauth, fields } = openCredentials(context.sealer, row);
    const party = await partyOf(context, row, fields);
    if (oauth === undefined) return { status: 'not-supported', detail: 'Keys are revoked at the provider' };
    if (party === undefined) return { status: 'failed', detail: 'Its OAuth client is not there any more' };
    return await revokeTokens(context.ask, party, oauth);
  } catch (error) {
    // Deleting must not depend on a secret that does not open.
    context.log.warn({ err: error, connected_account: row.id }, 'the tokens of a deleted account could not be read');
    return { status: 'failed', detail: 'The stored tokens could not be read' };
  }
}
