import { hasLongHost } from '../egress/index.ts';

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * The final redirect target of a flow; undefined: not allowed. Allowed are a path of this server, a
 * program on the user's machine (RFC 8252, 7.3), and an origin that the operator allows. Any other
 * target would make this server an open redirect.
 */
export function checkRedirect(redirect: string, publicUrl: string, allowedOrigins: readonly string[]): URL | undefined {
  // Two leading slashes name another host. Browsers read a backslash as a slash.
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
