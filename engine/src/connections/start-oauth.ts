import { type FieldError, HeadwaterError, LIMITS } from '@headwater/shared';
import type { AppOAuth, OAuthStart, Principal } from '../contract/index.ts';
import { findNamedApp } from './apps/apps.ts';
import { fillUrl } from './apps/fill-template.ts';
import { insertOAuthState } from './oauth.sql.ts';
import { type AccountContext, clientFor, requireAccount } from './account-context.ts';
import { checkRedirect } from './check-redirect.ts';
import { challengeOf, hashState, type OAuthRequest, randomText } from './oauth-request.ts';
import { validateFields } from './validate-credentials.ts';

export interface OAuthOptions {
  /** URL of this server, without a trailing slash. */
  publicUrl: string;
  /** Origins that a flow may send the browser to in the end, besides this server's and loopback. */
  redirectOrigins: readonly string[];
}

/** Begins a flow: the user that opens the returned URL and agrees there connects an account. */
export async function startOAuth(
  context: AccountContext,
  options: OAuthOptions,
  who: Principal,
  input: OAuthStart,
): Promise<{ authorizeUrl: string; expiresAt: Date }> {
  const app = await findNamedApp(context.sql, who.accountId, input.app);
  const { oauth, slug } = app.definition;
  if (oauth === undefined) {
    throw invalid([
      { path: 'app', message: `${slug} does not use OAuth: connect it with POST /v1/connected_accounts` },
    ]);
  }
  const fields = validateFields(app.definition, input.fields ?? {}, 'fields');
  checkInput(options, oauth, input);
  if (input.connectedAccountId !== undefined) await checkAccount(context, who, input.connectedAccountId, app.id);
  const { owner, clientId } = await clientFor(context, who.accountId, app);
  const request: OAuthRequest = {
    client: { owner, clientId },
    redirectUri: `${options.publicUrl}/oauth/callback`,
    fields,
    scopes: [...(input.scopes ?? oauth.scopes)],
    ...(oauth.pkce ? { verifier: randomText() } : {}),
    ...(input.name ? { name: input.name } : {}),
    ...(input.redirect === undefined ? {} : { redirect: input.redirect }),
    ...(input.connectedAccountId === undefined ? {} : { connectedAccountId: input.connectedAccountId }),
  };
  const state = randomText();
  const authorizeUrl = authorizeUrlOf(oauth, request, state);
  const expiresAt = await insertOAuthState(context.sql, {
    stateHash: hashState(state),
    accountId: who.accountId,
    userId: who.userId,
    appId: app.id,
    request: context.sealer.seal(who.accountId, JSON.stringify(request)),
    ttlSeconds: LIMITS.oauthStateSeconds,
    maxOpen: LIMITS.maxOAuthStatesPerAccount,
  });
  return { authorizeUrl, expiresAt };
}

function checkInput(options: OAuthOptions, oauth: AppOAuth, { redirect, scopes = [] }: OAuthStart): void {
  const faults: FieldError[] = [];
  const separator = oauth.scopeSeparator ?? ' ';
  if (!scopes.every((scope) => /^[\x21-\x7e]+$/.test(scope) && !scope.includes(separator))) {
    faults.push({ path: 'scopes', message: 'must be printable ASCII without spaces or separators' });
  }
  if (redirect !== undefined && checkRedirect(redirect, options.publicUrl, options.redirectOrigins) === undefined) {
    const message =
      'must be a path of this server, http://localhost or http://127.0.0.1 with any port, or an origin that the operator allows';
    faults.push({ path: 'redirect', message });
  }
  if (faults.length > 0) throw invalid(faults);
}

async function checkAccount({ sql }: AccountContext, who: Principal, id: string, appId: string): Promise<void> {
  const row = await requireAccount(sql, who.accountId, id);
  if (row.app_id === appId) return;
  throw invalid([{ path: 'connected_account_id', message: `is an account of ${row.definition.slug}` }]);
}

function authorizeUrlOf(oauth: AppOAuth, request: OAuthRequest, state: string): string {
  const filled = fillUrl(oauth.authorizeUrl, request.fields);
  if (!filled.ok) throw invalid([{ path: `fields.${filled.field}`, message: filled.message }]);
  const { url } = filled;
  const { client, scopes, verifier } = request;
  const scope = scopes.join(oauth.scopeSeparator ?? ' ');
  const parameters = {
    ...oauth.authorizeParameters,
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: request.redirectUri,
    ...(scope === '' ? {} : { [oauth.scopeParameter ?? 'scope']: scope }),
    state,
    ...(verifier === undefined ? {} : { code_challenge: challengeOf(verifier), code_challenge_method: 'S256' }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

function invalid(fields: readonly FieldError[]): HeadwaterError {
  const list = fields.map(({ path, message }) => `${path} ${message}`).join('; ');
  return new HeadwaterError('INVALID_REQUEST', `The flow cannot begin: ${list}`, { fields });
}
