import { HeadwaterError, LIMITS, newId } from '@headwater/shared';
import type { AroundConnecting, OAuthCallback, OAuthOutcome, StoredApp } from '../contract/index.ts';
import { findApp } from './apps/apps.ts';
import { type OAuthStateRow, takeOAuthState } from './oauth.sql.ts';
import { replaceCredentials } from './connected-accounts.sql.ts';
import type { AnonymousLookups } from '../fairness/index.ts';
import { addConnectedAccount } from './add-connected-account.ts';
import { type AccountContext, clientOf, recordOf, requireAccount, sealCredentials } from './account-context.ts';
import { askUserinfo } from './ask-userinfo.ts';
import { checkRedirect } from './check-redirect.ts';
import { lifetimesOf, tokensOf } from './granted-credentials.ts';
import { hashState, type OAuthRequest } from './oauth-request.ts';
import type { OAuthOptions } from './start-oauth.ts';
import { type Grant, printable } from './token-answer.ts';
import { secretsOf } from './stored-credentials.ts';
import { exchangeCode, type OAuthParty, revokeTokens } from './token-endpoint.ts';

const STATE = /^[\w-]{43}$/;

/** A flow whose browser has returned. */
interface Flow {
  state: OAuthStateRow;
  app: StoredApp;
  request: OAuthRequest;
}

/** Why a flow does not end in a connected account; for the person at the browser. */
class FlowFailed extends HeadwaterError {
  constructor(message: string) {
    super('INVALID_REQUEST', message);
  }
}

/**
 * Ends the flow that `state` names, whether it succeeds or not: a state is accepted once. Only the
 * state's own row decides the account, the provider that gets the code, and the redirect.
 */
export async function finishOAuth(
  context: AccountContext,
  options: OAuthOptions,
  callback: OAuthCallback,
  { inTurn, around }: { inTurn: AnonymousLookups; around: AroundConnecting },
): Promise<OAuthOutcome> {
  const { state: stateText = '' } = callback;
  const take = () => takeOAuthState(context.sql, hashState(stateText));
  const state = STATE.test(stateText) ? await inTurn(take) : undefined;
  if (state === undefined) {
    return { ok: false, message: 'This link is not known, was used already, or is too old. Begin again.' };
  }
  const request = JSON.parse(context.sealer.open(state.account_id, state.request)) as OAuthRequest;
  const flow: Flow = { state, request, app: await findApp(context.sql, state.account_id, state.app_id) };
  try {
    const about = { accountId: state.account_id, userId: state.user_id, app: flow.app.definition.slug };
    const id = await around(about, () => connect(context, flow, callback));
    const account = recordOf(await requireAccount(context.sql, state.account_id, id));
    const told = { connected_account_id: id, app: flow.app.definition.slug };
    return { ok: true, account, workspace: state.workspace, ...redirectPart(options, request, told) };
  } catch (error) {
    if (!(error instanceof FlowFailed)) throw error;
    const { message } = error;
    return { ok: false, message, ...redirectPart(options, request, { error: message, app: flow.app.definition.slug }) };
  }
}

async function connect(context: AccountContext, flow: Flow, callback: OAuthCallback): Promise<string> {
  const code = codeOf(flow, callback);
  const party = await partyOf(context, flow);
  const { verifier, redirectUri } = flow.request;
  const exchange = { code, redirectUri, ...(verifier === undefined ? {} : { verifier }) };
  const outcome = await exchangeCode(context.ask, party, exchange);
  if (!outcome.ok) throw new FlowFailed(`${flow.app.definition.name} gave no access: ${outcome.fault.message}`);
  return keep(context, flow, party, outcome.grant);
}

/** The code, once the answer is known to be this provider's and to hold one. */
function codeOf({ app }: Flow, { code, issuer, error, errorDescription }: OAuthCallback): string {
  const { name, oauth } = app.definition;
  // Before anything else is believed: the answer of one provider must not be taken to another (RFC
  // 9207).
  if (oauth?.issuer !== undefined && issuer !== oauth.issuer) {
    throw new FlowFailed(`The answer did not come from ${name}. Begin again.`);
  }
  if (error !== undefined) {
    const words = [error, errorDescription].filter((part) => part !== undefined && part !== '').join(': ');
    throw new FlowFailed(`${name} answered: ${printable(words)}`);
  }
  if (code === undefined || code === '') throw new FlowFailed(`${name} sent no authorization code`);
  const max = LIMITS.maxOAuthCodeChars;
  if (code.length <= max) return code;
  const told = `an authorization code of ${code.length} characters; at most ${max} are taken (maxOAuthCodeChars)`;
  throw new FlowFailed(`${name} sent ${told}`);
}

async function partyOf(context: AccountContext, { state, app, request }: Flow): Promise<OAuthParty> {
  const { oauth, name } = app.definition;
  const client = await clientOf(context, request.client.owner, app.id);
  if (oauth === undefined || client?.clientId !== request.client.clientId) {
    throw new FlowFailed(`The OAuth client of ${name} was changed meanwhile. Begin again.`);
  }
  return { accountId: state.account_id, oauth, client, fields: request.fields };
}

async function keep(context: AccountContext, flow: Flow, party: OAuthParty, grant: Grant): Promise<string> {
  const { sql, sealer } = context;
  const { state, app, request } = flow;
  const { accountId, oauth, client } = party;
  const granted = tokensOf(oauth, client.clientId, grant);
  const secrets = secretsOf('$auth', app.definition, { fields: request.fields, oauth: granted });
  const user = await askUserinfo(context.ask, party, grant.accessToken, secrets);
  if (user.kind === 'refused') {
    throw new FlowFailed(`${app.definition.name} does not accept the token that it gave: ${user.detail}`);
  }
  const tokens = tokensOf(oauth, client.clientId, grant, user.kind === 'answered' ? { userinfo: user.body } : {});
  const uid = tokens.values['oauth_uid'];
  const connected = {
    credentials: sealCredentials(sealer, accountId, { fields: request.fields, oauth: tokens }),
    uid: typeof uid === 'string' ? uid : null,
    scopes: grant.scopes ?? request.scopes,
    clientOwner: client.owner,
    ...lifetimesOf(grant, tokens),
  };
  const { connectedAccountId } = request;
  if (connectedAccountId !== undefined) {
    if (await replaceCredentials(sql, accountId, connectedAccountId, connected)) return connectedAccountId;
    await revokeTokens(context.ask, party, grant);
    throw new FlowFailed('The connected account was deleted meanwhile');
  }
  const id = newId('connectedAccount');
  const place = { id, accountId, userId: state.user_id, appId: app.id, name: request.name ?? null };
  await addConnectedAccount(sql, { ...connected, ...place });
  return id;
}

/** Checked once more: what the operator allows may have changed since the flow began. */
function redirectPart(
  { publicUrl, redirectOrigins }: OAuthOptions,
  { redirect }: OAuthRequest,
  told: Record<string, string>,
): { redirect?: string } {
  const url = redirect === undefined ? undefined : checkRedirect(redirect, publicUrl, redirectOrigins);
  if (url === undefined) return {};
  for (const [name, value] of Object.entries(told)) url.searchParams.set(name, value);
  return { redirect: url.href };
}
