import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readSessionBearer } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { cookieName, type CookieScope, cookieScope, readCookie, writeCookie } from './cookie.ts';

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

/**
 * The same for each sign-in with one key, so that a browser keeps one cookie a key, and two tabs
 * may have two keys.
 */
export function sessionIdOf(apiKey: string): string {
  return createHash('sha256').update(`session ${apiKey}`).digest('hex').slice(0, 16);
}

/** The REST API: endpoints of sources never see the cookie. */
export function sessionScope(publicUrl: string): CookieScope {
  return cookieScope(publicUrl, '/v1');
}

/** The value of `set-cookie`. Without a token the browser forgets the session. */
export function sessionCookie(id: string, token: string | undefined, scope: CookieScope): string {
  const seconds = Math.floor(LIMITS.sessionMaxAgeMs / 1000);
  return writeCookie({ ...scope, name: `${COOKIE_PREFIX}${id}`, seconds, sameSite: 'Strict' }, token);
}

/**
 * The token of the session that the request names; undefined where it names none, or brings no
 * cookie for it.
 */
function sessionToken(headers: { session: string | undefined; cookie: string | undefined }): string | undefined {
  const { session, cookie } = headers;
  if (session === undefined || !SESSION_ID.test(session)) return undefined;
  const names = [true, false].map((secure) => cookieName(`${COOKIE_PREFIX}${session}`, secure));
  return readCookie(cookie, names);
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
