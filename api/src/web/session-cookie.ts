import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readSessionBearer } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';

/**
 * Names the session of a request. A page of another site cannot send it, so a cookie alone never
 * signs a request.
 */
export const SESSION_HEADER = 'x-headwater-session';

/** Names the account of a member that the request is for. Default: the first one. */
export const ACCOUNT_HEADER = 'x-headwater-account';

const ACCOUNT_ID = /^o_[0-9A-Za-z]{1,64}$/;
const SESSION_ID = /^[a-f0-9]{16}$/;
const COOKIE_PREFIX = 'hw_session_';
/** Browsers take cookies of this name over TLS alone, and from this host alone. */
const SECURE_PREFIX = '__Secure-';

/**
 * The same for each sign-in with one key, so that a browser keeps one cookie a key, and two tabs
 * may have two keys.
 */
export function sessionIdOf(apiKey: string): string {
  return createHash('sha256').update(`session ${apiKey}`).digest('hex').slice(0, 16);
}

export interface CookieScope {
  /** The cookie is sent over TLS alone. */
  secure: boolean;
  /**
   * Below which the REST API is: `/v1`, or `/base/v1`. Endpoints of sources never see the cookie.
   */
  path: string;
}

export function cookieScope(publicUrl: string): CookieScope {
  const { protocol, pathname } = new URL(publicUrl);
  return { secure: protocol === 'https:', path: `${pathname.replace(/\/$/, '')}/v1` };
}

/** The value of `set-cookie`. Without a token the browser forgets the session. */
export function sessionCookie(id: string, token: string | undefined, { secure, path }: CookieScope): string {
  const maxAge = token === undefined ? 0 : Math.floor(LIMITS.sessionMaxAgeMs / 1000);
  const name = `${secure ? SECURE_PREFIX : ''}${COOKIE_PREFIX}${id}`;
  const attributes = `Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  return `${name}=${token ?? ''}; ${attributes}`;
}

/**
 * The token of the session that the request names; undefined where it names none, or brings no
 * cookie for it.
 */
function sessionToken(headers: { session: string | undefined; cookie: string | undefined }): string | undefined {
  const { session, cookie } = headers;
  if (session === undefined || cookie === undefined || !SESSION_ID.test(session)) return undefined;
  const names = [`${SECURE_PREFIX}${COOKIE_PREFIX}${session}=`, `${COOKIE_PREFIX}${session}=`];
  for (const part of cookie.split(';', 4 * LIMITS.maxSessionCookies)) {
    const pair = part.trim();
    const name = names.find((one) => pair.startsWith(one));
    if (name !== undefined) return pair.slice(name.length);
  }
  return undefined;
}

/**
 * Turns the session of a request into the `authorization` header that everything behind it reads:
 * fairness between keys, authentication and streams know API keys alone. A request that brings a
 * key itself is left as it is.
 */
export function signWithSession(request: IncomingMessage, keyOf: (token: string) => string | undefined): void {
  const { headers } = request;
  if (headers.authorization !== undefined) return;
  const session = headers[SESSION_HEADER];
  if (typeof session !== 'string') return;
  const token = sessionToken({ session, cookie: headers.cookie });
  const key = token === undefined ? undefined : keyOf(token);
  if (key === undefined || sessionIdOf(key) !== session) return;
  const account = headers[ACCOUNT_HEADER];
  const isChosen = typeof account === 'string' && ACCOUNT_ID.test(account) && readSessionBearer(key) !== undefined;
  headers.authorization = `Bearer ${key}${isChosen ? `.${account}` : ''}`;
  // The Hono adapter reads these.
  request.rawHeaders.push('Authorization', headers.authorization);
}
