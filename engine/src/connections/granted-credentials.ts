import type { AppOAuth } from '../contract/index.ts';
import type { ConnectedCredentials } from './connected-accounts.sql.ts';
import { valueAt } from './read-path.ts';
import type { OAuthTokens } from './stored-credentials.ts';
import type { Grant } from './token-answer.ts';

const MAX_VALUE_CHARS = 4_096;
/**
 * A new access token is fetched this long before the old one ends, or a quarter of its life before,
 * if that is less. A run takes at most 750 s (ACCOUNT_LIMITS): the token that it starts with lasts
 * to its end where tokens live an hour or more.
 */
const MAX_LEAD_SECONDS = 900;
const LEAD_SHARE = 0.25;

/** The tokens of a grant. Values that a refresh response omits stay as before. */
export function tokensOf(
  oauth: AppOAuth,
  clientId: string,
  grant: Grant,
  known: { before?: OAuthTokens; userinfo?: unknown } = {},
): OAuthTokens {
  const { before, userinfo } = known;
  const refreshToken = grant.refreshToken ?? before?.refreshToken;
  return {
    accessToken: grant.accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    clientId,
    values: { ...before?.values, ...valuesOf(oauth, grant.answer, userinfo) },
  };
}

function valuesOf(oauth: AppOAuth, token: Record<string, unknown>, userinfo: unknown): Record<string, unknown> {
  const roots = { token, userinfo, id_token: claimsOf(token['id_token']) };
  const found = Object.entries(oauth.values ?? {}).flatMap(([name, source]): [string, unknown][] => {
    const value = valueAt(roots, source);
    return isPlain(value) ? [[name, name === 'oauth_uid' ? String(value) : value]] : [];
  });
  return Object.fromEntries(found);
}

function isPlain(value: unknown): value is string | number | boolean {
  if (typeof value === 'string')
    return value.length <= MAX_VALUE_CHARS && value.isWellFormed() && !value.includes('\0');
  return typeof value === 'number' || typeof value === 'boolean';
}

/**
 * Its signature need not be checked: it came from the token endpoint itself (OpenID Connect Core
 * 3.1.3.7, 6).
 */
function claimsOf(idToken: unknown): unknown {
  if (typeof idToken !== 'string') return undefined;
  try {
    return JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    // Not a JWT: nothing can be taken from it.
    return undefined;
  }
}

/**
 * When the access token ends and a new one is due. Without a refresh token there is nothing to be
 * due.
 */
export function lifetimesOf(
  grant: Grant,
  tokens: OAuthTokens,
): Pick<ConnectedCredentials, 'expiresInSeconds' | 'refreshInSeconds'> {
  const { expiresInSeconds = null } = grant;
  if (expiresInSeconds === null || tokens.refreshToken === undefined)
    return { expiresInSeconds, refreshInSeconds: null };
  const leadSeconds = Math.min(MAX_LEAD_SECONDS, expiresInSeconds * LEAD_SHARE);
  return { expiresInSeconds, refreshInSeconds: expiresInSeconds - leadSeconds };
}
