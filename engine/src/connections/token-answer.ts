import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type { AppOAuth } from '../contract/index.ts';
import type { ProviderAnswer } from './provider-request.ts';
import { valueAt } from './read-path.ts';

/** Tokens that a token endpoint granted. */
export interface Grant {
  accessToken: string;
  refreshToken?: string;
  expiresInSeconds?: number;
  scopes?: string[];
  /** The whole answer, for AppOAuth.values. */
  answer: Record<string, unknown>;
}

/**
 * `refused`: the provider will not accept this grant again, or gives what cannot be kept, and would
 * again: the user has to connect anew. `misconfigured`: the client is not accepted, which says
 * nothing about the user. `unavailable`: it may work later.
 */
export type TokenFault = {
  kind: 'refused' | 'misconfigured' | 'unavailable';
  message: string;
  limit?: ExceededLimit;
};

export type TokenOutcome = { ok: true; grant: Grant } | { ok: false; fault: TokenFault };

const MAX_SHOWN_CHARS = 300;
/** Limit of all scopes together. A longer value counts as no scopes. */
const MAX_SCOPES_CHARS = 16_384;
/** Ten years. Postgres has no time at which some lifetimes end, and JavaScript no date. */
const MAX_LIFETIME_SECONDS = 10 * 365 * 24 * 3_600;
/** RFC 6749, 5.2; and what providers of the catalogue answer instead of `invalid_grant`. */
const REFUSED = new Set([
  'invalid_grant',
  'bad_refresh_token',
  'bad_verification_code',
  'invalid_refresh_token',
  'token_revoked',
]);
const MISCONFIGURED = new Set([
  'bad_client_secret',
  'incorrect_client_credentials',
  'invalid_client',
  'invalid_client_id',
  'unauthorized_client',
  'unsupported_grant_type',
]);

/**
 * Reads the token endpoint's response, whatever its status. `withoutSent` removes the values that
 * were sent: the provider may repeat them in an error, which is stored and shown.
 */
export async function readTokenAnswer(
  oauth: AppOAuth,
  host: string,
  outcome: ProviderAnswer,
  withoutSent: (words: string) => Promise<string>,
): Promise<TokenOutcome> {
  if (!outcome.ok) {
    const { message, limit } = outcome;
    return { ok: false, fault: { kind: 'unavailable', message, ...(limit === undefined ? {} : { limit }) } };
  }
  const { status, body } = outcome;
  const inner = oauth.tokenAt === undefined ? undefined : valueAt(body, oauth.tokenAt);
  const tokens = valueAt(inner, 'access_token') === undefined ? body : (inner as Record<string, unknown>);
  const accessToken = tokens['access_token'];
  if (status >= 200 && status <= 299 && isText(accessToken) && body['error'] === undefined) {
    const fault = tokenFault(host, status, tokens);
    return fault === undefined ? { ok: true, grant: grantOf(oauth, accessToken, tokens, body) } : { ok: false, fault };
  }
  return { ok: false, fault: await faultOf(host, status, body, withoutSent) };
}

/** A fault that makes the tokens useless and that a new request does not fix. */
function tokenFault(host: string, status: number, tokens: Record<string, unknown>): TokenFault | undefined {
  const value = LIMITS.maxOAuthTokenChars;
  for (const name of ['access_token', 'refresh_token']) {
    const token = tokens[name];
    if (!isText(token) || token.length <= value) continue;
    const message = `${host} gave a token (${name}) of ${token.length} characters; at most ${value} are kept (maxOAuthTokenChars)`;
    return { kind: 'refused', message, limit: { name: 'maxOAuthTokenChars', value, used: token.length } };
  }
  if (isToken(tokens['access_token'])) return undefined;
  return { kind: 'refused', message: `${host} answered ${status} with an access_token that no header can hold` };
}

function grantOf(
  oauth: AppOAuth,
  accessToken: string,
  tokens: Record<string, unknown>,
  answer: Record<string, unknown>,
): Grant {
  const { refresh_token: refreshToken, scope } = tokens;
  const expiresInSeconds = secondsOf(tokens['expires_in']) ?? oauth.lifetimeSeconds;
  return {
    accessToken,
    ...(isToken(refreshToken) ? { refreshToken } : {}),
    ...(expiresInSeconds === undefined ? {} : { expiresInSeconds }),
    ...(isScopes(scope) ? { scopes: scope.split(/[\s,]+/).filter((part) => part !== '') } : {}),
    answer,
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isToken = (value: unknown): value is string =>
  isText(value) && value.length <= LIMITS.maxOAuthTokenChars && !/[\0\r\n]/.test(value);

// Postgres text has no NUL.
const isScopes = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_SCOPES_CHARS && value.isWellFormed() && !value.includes('\0');

/** Some send it as text. Zero is how some say "never". */
function secondsOf(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0
    ? Math.min(seconds, MAX_LIFETIME_SECONDS)
    : undefined;
}

async function faultOf(
  host: string,
  status: number,
  body: Record<string, unknown>,
  withoutSent: (words: string) => Promise<string>,
): Promise<TokenFault> {
  const code = typeof body['error'] === 'string' ? body['error'] : '';
  const message = `${host} answered ${status}${await describeError(body, withoutSent)}`;
  if (REFUSED.has(code)) return { kind: 'refused', message };
  if (MISCONFIGURED.has(code) || status === 401) return { kind: 'misconfigured', message };
  // An unknown code: it still comes from the provider itself, not from a proxy before it.
  if (status >= 400 && status < 500 && status !== 408 && status !== 429 && code !== '')
    return { kind: 'refused', message };
  return { kind: 'unavailable', message };
}

/**
 * The provider's own words, for the owner of the account to read. They are cut last: a part of a
 * secret would not be found.
 */
async function describeError(
  body: Record<string, unknown>,
  withoutSent: (words: string) => Promise<string>,
): Promise<string> {
  const words = [body['error'], body['error_description']].filter(isText);
  return words.length === 0 ? '' : `: ${printable(await withoutSent(words.join(', ')))}`;
}

/** One line of bounded length, without control characters. */
export function printable(text: string): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ').toWellFormed();
  return clean.length > MAX_SHOWN_CHARS ? `${clean.slice(0, MAX_SHOWN_CHARS)}…` : clean;
}
