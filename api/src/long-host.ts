import type { IncomingMessage } from 'node:http';
import { type ExceededLimit, LIMITS, platformLimit } from '@headwater/shared';

/** The host in a URL. Like the URL parser, it accepts any number of slashes or backslashes. */
const AUTHORITY = /^https?:[/\\]*([^/\\?#]*)/;

/**
 * Limit that an over-long host exceeds; else undefined. Checked before `new URL`: decoding a
 * non-ASCII or percent-encoded name takes quadratic time. The longest that fits takes 10 ms of the
 * thread.
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
