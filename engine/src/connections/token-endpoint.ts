import type { AppOAuth } from '../contract/index.ts';
import { fillUrl } from './apps/fill-template.ts';
import { createRedactor } from '../secrets/index.ts';
import type { AskProvider, ProviderRequest } from './provider-request.ts';
import { readTokenAnswer, type TokenOutcome } from './token-answer.ts';

/** A client with its opened secret. */
export interface OAuthClient {
  owner: string;
  clientId: string;
  clientSecret?: string;
}

/** A flow or an account that talks to its provider. */
export interface OAuthParty {
  accountId: string;
  oauth: AppOAuth;
  client: OAuthClient;
  /** Values of the app's fields, for URLs. */
  fields: Readonly<Record<string, string>>;
}

export function exchangeCode(
  ask: AskProvider,
  party: OAuthParty,
  flow: { code: string; redirectUri: string; verifier?: string },
): Promise<TokenOutcome> {
  const { code, redirectUri, verifier } = flow;
  return askForTokens(ask, party, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    ...(verifier === undefined ? {} : { code_verifier: verifier }),
  });
}

export function refreshTokens(ask: AskProvider, party: OAuthParty, refreshToken: string): Promise<TokenOutcome> {
  return askForTokens(ask, party, { grant_type: 'refresh_token', refresh_token: refreshToken });
}

export type RevokeOutcome = { status: 'revoked' | 'failed' | 'not-supported'; detail: string };

/**
 * RFC 7009. The refresh token where there is one: with it providers end the access tokens as well.
 */
export async function revokeTokens(
  ask: AskProvider,
  party: OAuthParty,
  tokens: { accessToken: string; refreshToken?: string },
): Promise<RevokeOutcome> {
  const { revokeUrl } = party.oauth;
  if (revokeUrl === undefined) return { status: 'not-supported', detail: 'The provider cannot be asked to' };
  const { refreshToken } = tokens;
  const hint = refreshToken === undefined ? 'access_token' : 'refresh_token';
  const values = { token: refreshToken ?? tokens.accessToken, token_type_hint: hint };
  const request = requestTo(party, revokeUrl, values);
  if (typeof request === 'string') return { status: 'failed', detail: request };
  const answer = await ask(party.accountId, request);
  if (!answer.ok) return { status: 'failed', detail: answer.message };
  const detail = `${request.url.host} answered ${answer.status}`;
  return { status: answer.status >= 200 && answer.status <= 299 ? 'revoked' : 'failed', detail };
}

async function askForTokens(
  ask: AskProvider,
  party: OAuthParty,
  values: Record<string, string>,
): Promise<TokenOutcome> {
  const request = requestTo(party, party.oauth.tokenUrl, values);
  if (typeof request === 'string') return { ok: false, fault: { kind: 'misconfigured', message: request } };
  const answer = await ask(party.accountId, { ...request, takesForm: true });
  return readTokenAnswer(party.oauth, request.url.host, answer, (words) => withoutSent(words, party, values));
}

/**
 * Redacts one secret after the other, and `code` last, because a caller of the callback chooses it.
 * It could end with the beginning of the operator's client secret, and the rest of the secret would
 * remain.
 */
async function withoutSent(words: string, { client }: OAuthParty, values: Record<string, string>): Promise<string> {
  const { clientSecret } = client;
  const { refresh_token: refreshToken, code_verifier: verifier, code } = values;
  const secrets = [
    { name: 'client_secret', value: clientSecret },
    // As it is in the header of Basic authentication, before it becomes base64.
    { name: 'client_secret', value: clientSecret && formEncoded(clientSecret) },
    { name: 'refresh_token', value: refreshToken },
    { name: 'code_verifier', value: verifier },
    { name: 'code', value: code },
  ];
  let text = words;
  for (const secret of secrets) {
    const redactor = createRedactor([secret]);
    // A token may have thousands of lines, which take the thread a tenth of a second to get ready
    // for in one piece.
    await redactor?.ready();
    text = redactor?.text(text) ?? text;
  }
  return text;
}

/** A request that authenticates the client, or the fault of the URL. */
function requestTo(party: OAuthParty, template: string, given: Record<string, string>): ProviderRequest | string {
  const { oauth, client, fields } = party;
  const filled = fillUrl(template, fields);
  if (!filled.ok) return `The field ${filled.field} ${filled.message}`;
  const { clientId, clientSecret = '' } = client;
  const type = oauth.tokenBody ?? 'form';
  const base = { method: 'POST', url: filled.url } as const;
  switch (oauth.tokenAuth) {
    case 'basic':
      return { ...base, headers: { authorization: basic(clientId, clientSecret) }, body: { type, values: given } };
    case 'body':
      return { ...base, body: { type, values: { ...given, client_id: clientId, client_secret: clientSecret } } };
    case 'none':
      return { ...base, body: { type, values: { ...given, client_id: clientId } } };
  }
}

/** RFC 6749, 2.3.1: both are form-encoded first. */
function basic(clientId: string, clientSecret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(clientId)}:${formEncoded(clientSecret)}`).toString('base64')}`;
}

const formEncoded = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
