import { LIMITS } from '@headwater/shared';

/** Browsers take cookies of this name over TLS alone, and from this host alone. */
const SECURE_PREFIX = '__Secure-';
/** Others of the host send cookies as well. */
const MAX_READ = 4 * LIMITS.maxSessionCookies;

export interface CookieScope {
  /** The cookie is sent over TLS alone. */
  secure: boolean;
  /** The browser sends the cookie to this path and below it. */
  path: string;
}

/** `path`: below the public URL. */
export function cookieScope(publicUrl: string, path: string): CookieScope {
  const { protocol, pathname } = new URL(publicUrl);
  return { secure: protocol === 'https:', path: `${pathname.replace(/\/$/, '')}${path}` };
}

export interface Cookie extends CookieScope {
  /** Without its prefix. */
  name: string;
  seconds: number;
  sameSite: 'Lax' | 'Strict';
}

/** The value of `set-cookie`. Undefined: the browser forgets it. */
export function writeCookie(cookie: Cookie, value: string | undefined): string {
  const { name, secure, path, seconds, sameSite } = cookie;
  const maxAge = value === undefined ? 0 : seconds;
  const attributes = `Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=${sameSite}${secure ? '; Secure' : ''}`;
  return `${cookieName(name, secure)}=${value ?? ''}; ${attributes}`;
}

export function cookieName(name: string, secure: boolean): string {
  return `${secure ? SECURE_PREFIX : ''}${name}`;
}

/**
 * Its value in the header. Without the prefix, a neighbouring host without https could have set
 * it.
 */
export function readOwnCookie(header: string | undefined, { name, secure }: Cookie): string | undefined {
  return readCookie(header, [cookieName(name, secure)]);
}

/** The first one of `names` in the header. */
export function readCookie(header: string | undefined, names: readonly string[]): string | undefined {
  for (const part of header?.split(';', MAX_READ) ?? []) {
    const pair = part.trim();
    const name = names.find((one) => pair.startsWith(`${one}=`));
    if (name !== undefined) return pair.slice(name.length + 1);
  }
  return undefined;
}
