import type { IncomingMessage } from 'node:http';
import { LIMITS } from '@headwater/shared';

/** What names the host, as the parser of URLs reads it: it does not mind how many slashes there are, nor which. */
const AUTHORITY = /^https?:[/\\]*([^/\\?#]*)/;

/**
 * True where a request names a host that is longer than any there is. To be asked before its URL is made: a name in other letters than
 * ASCII, or percent-encoded, is turned into them in time that grows with its square, 10 ms of the node's thread for what fits.
 */
export function namesLongHost({ headers, url = '' }: IncomingMessage): boolean {
  const { host = '' } = headers;
  const max = LIMITS.maxUrlHostChars;
  if (host.length > max) return true;
  if (host.length + url.length <= max) return false;
  // As @hono/node-server puts it together: where the host is `/`, or the target begins with `*`, the target names it as well.
  const whole = /^https?:\/\//.test(url) ? url : `http://${host === '' ? 'localhost' : host}${url}`;
  return (AUTHORITY.exec(whole.replaceAll('\t', ''))?.[1] ?? '').length > max;
}

export const LONG_HOST = `The host header or the host in the target of the request is longer than ${LIMITS.maxUrlHostChars} characters`;
