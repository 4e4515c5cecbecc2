import {
  type ConnectedAccountRow,
  endRefreshLease,
  recordHealth,
  replaceCredentials,
} from './connected-accounts.sql.ts';
import { retryWhileAway } from '../db/index.ts';
import { type AccountContext, findAccount, partyOf, sealCredentials } from './account-context.ts';
import { lifetimesOf, tokensOf } from './granted-credentials.ts';
import type { StoredCredentials } from './stored-credentials.ts';
import type { Grant, TokenFault } from './token-answer.ts';
import { type OAuthParty, refreshTokens, revokeTokens } from './token-endpoint.ts';

export type RefreshOutcome = { ok: true } | ({ ok: false } & TokenFault);

/**
 * Fetches and stores a new access token, and the refresh token if the response has one. The caller
 * holds the account's lease `until` then; this call ends it. A refusal marks the account dead. Any
 * other failure changes nothing.
 */
export async function refreshLeased(
  context: AccountContext,
  row: ConnectedAccountRow,
  credentials: StoredCredentials,
  until: string,
): Promise<RefreshOutcome> {
  const { sql, log } = context;
  const { account_id: accountId, id, version } = row;
  const lease = { version, until };
  try {
    const outcome = await fetchTokens(context, row, credentials);
    if (outcome.ok) {
      // The provider has already invalidated the old refresh token. If the new one were lost, the
      // user would have to connect again.
      const isStored = await retryWhileAway(() => store(context, row, credentials, outcome.grant));
      // Connected anew or deleted meanwhile, which the caller sees when it reads again.
      if (!isStored) await revokeIfDeleted(context, row, outcome);
      return { ok: true };
    }
    log.info({ connected_account: id, kind: outcome.kind }, 'an access token was not renewed');
    if (outcome.kind === 'refused') {
      await recordHealth(sql, accountId, id, { version, state: 'dead', reason: outcome.message, isCheck: false });
    } else await endRefreshLease(sql, accountId, id, lease);
    return outcome;
  } catch (error) {
    await endRefreshLease(sql, accountId, id, lease);
    throw error;
  }
}

interface Refreshed {
  ok: true;
  party: OAuthParty;
  grant: Grant;
}

async function fetchTokens(
  context: AccountContext,
  row: ConnectedAccountRow,
  { fields, oauth }: StoredCredentials,
): Promise<Refreshed | ({ ok: false } & TokenFault)> {
  const party = await partyOf(context, row, fields);
  if (party === undefined || oauth?.refreshToken === undefined) {
    const message = `The OAuth client of ${row.definition.slug} that it was connected with is not there any more`;
    return { ok: false, kind: 'misconfigured', message };
  }
  const outcome = await refreshTokens(context.ask, party, oauth.refreshToken);
  return outcome.ok ? { ...outcome, party } : { ok: false, ...outcome.fault };
}

/**
 * A deletion revokes only the tokens it knows, so a token refreshed meanwhile is revoked here. A
 * reconnected account keeps its tokens: some providers would also end the new ones.
 */
async function revokeIfDeleted(
  { sql, ask, log }: AccountContext,
  { account_id: accountId, id }: ConnectedAccountRow,
  { party, grant }: Refreshed,
): Promise<void> {
  if ((await findAccount(sql, accountId, id)) !== undefined) return;
  const { status } = await revokeTokens(ask, party, grant);
  if (status === 'failed') log.info({ connected_account: id }, 'tokens of a deleted account were not revoked');
}

async function store(
  { sql, sealer }: AccountContext,
  row: ConnectedAccountRow,
  credentials: StoredCredentials,
  grant: Grant,
): Promise<boolean> {
  const { oauth: settings } = row.definition;
  const { oauth: before } = credentials;
  if (settings === undefined || before === undefined) throw new Error(`${row.id} has no tokens to renew`);
  const tokens = tokensOf(settings, before.clientId, grant, { before });
  return replaceCredentials(sql, row.account_id, row.id, {
    credentials: sealCredentials(sealer, row.account_id, { ...credentials, oauth: tokens }),
    uid: null,
    scopes: grant.scopes ?? row.scopes,
    clientOwner: row.client_owner,
    version: row.version,
    ...lifetimesOf(grant, tokens),
  });
}
