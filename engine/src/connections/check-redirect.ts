import { hasLongHost } from '../egress/long-host.ts';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * Where a flow may send the browser in the end: a path of this server, a program on the user's own
 * machine (RFC 8252, 7.3), or an origin that the operator allows. Anything else would make the
 * provider's page, and then this server, a way to a page of a stranger. Undefined for what may not
 * be.
 */
export function checkRedirect(redirect: string, publicUrl: string, allowedOrigins: readonly string[]): URL | undefined {
  // What begins with two slashes (or a backslash, which browsers read as one) names another host.
  const isPath = redirect.startsWith('/') && !/^\/[/\\]/.test(redirect);
  if (!isPath && !/^https?:\/\//i.test(redirect)) return undefined;
  // Browsers drop tabs and line breaks from URLs. A long host takes the thread when it is read.
  if (/[\s\\]/.test(redirect) || hasLongHost(redirect) || !URL.canParse(redirect, publicUrl)) return undefined;
  const url = new URL(redirect, publicUrl);
  if (url.username !== '' || url.password !== '') return undefined;
  const isLoopback = url.protocol === 'http:' && LOOPBACK.test(url.hostname);
  const isAllowed = url.origin === new URL(publicUrl).origin || allowedOrigins.includes(url.origin) || isLoopback;
  return isAllowed ? url : undefined;
}
