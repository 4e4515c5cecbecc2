import type { IncomingMessage } from 'node:http';
import { type ExceededLimit, LIMITS, platformLimit } from '@headwater/shared';

/**
 * What names the host, as the parser of URLs reads it: it does not mind how many slashes there are,
 * nor which.
 */
const AUTHORITY = /^https?:[/\\]*([^/\\?#]*)/;

/**
 * What a request goes over that names a host that is longer than any there is. To be asked before
 * its URL is made: a name in other letters than ASCII, or percent-encoded, is turned into them in
 * time that grows with its square, 10 ms of the node's thread for what fits.
 */
export function longHostOfRequest({ headers, url = '' }: IncomingMessage): ExceededLimit | undefined {
  const { host = '' } = headers;
  const max = LIMITS.maxUrlHostChars;
  if (host.length > max) return platformLimit('maxUrlHostChars', host.length);
  if (host.length + url.length <= max) return undefined;
  // As @hono/node-server puts it together: where the host is `/`, or the target begins with `*`,
  // the target names it as well.
  const whole = /^https?:\/\//.test(url) ? url : `http://${host === '' ? 'localhost' : host}${url}`;
  const named = (AUTHORITY.exec(whole.replaceAll('\t', ''))?.[1] ?? '').length;
  return named > max ? platformLimit('maxUrlHostChars', named) : undefined;
}

export const LONG_HOST = `The host header or the host in the target of the request is longer than ${LIMITS.maxUrlHostChars} characters`;
