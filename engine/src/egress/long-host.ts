import { type ExceededLimit, LIMITS } from '@headwater/shared';

/**
 * Schemes whose hosts are names (https://url.spec.whatwg.org/#special-scheme). A URL relative to
 * one may name a host as well.
 */
const AUTHORITY = /^(?:(?:https?|wss?|ftp|file):[/\\]*|[/\\]{2,})([^/\\?#]*)/i;

/**
 * Whether a URL names a host that is longer than any real one. Checked before parsing: converting a
 * non-ASCII name takes quadratic time, 20 ms of the node's thread for five thousand letters.
 */
export function hasLongHost(url: string): boolean {
  return longHostOf(url) !== undefined;
}

/** As hasLongHost, with the limit and the length. */
export function longHostOf(url: string): ExceededLimit | undefined {
  const { maxUrlHostChars: value } = LIMITS;
  if (url.length <= value) return undefined;
  // As the parser reads it.
  const text = url.replace(/^[\0-\x20]+/, '').replaceAll(/[\t\n\r]+/g, '');
  const used = (AUTHORITY.exec(text)?.[1] ?? '').length;
  return used > value ? { name: 'maxUrlHostChars', value, used } : undefined;
}

export const LONG_EGRESS_HOST = `The host of the URL is longer than ${LIMITS.maxUrlHostChars} characters`;
