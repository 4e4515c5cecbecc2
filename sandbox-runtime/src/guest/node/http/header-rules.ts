import { codedError } from '../errors.ts';

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/;

/** If a response repeats one of these, the first value counts. */
const SINGLE = new Set([
  'age',
  'authorization',
  'content-length',
  'content-type',
  'etag',
  'expires',
  'from',
  'host',
  'if-modified-since',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'referer',
  'retry-after',
  'server',
  'user-agent',
]);

export function checkHeaderName(name: unknown): void {
  if (typeof name !== 'string' || !NAME.test(name))
    throw codedError('ERR_INVALID_HTTP_TOKEN', `Header name must be a valid HTTP token ["${String(name)}"]`, TypeError);
}

export function checkHeaderValue(name: string, value: unknown): void {
  if (value === undefined)
    throw codedError('ERR_HTTP_INVALID_HEADER_VALUE', `Invalid value "undefined" for header "${name}"`, TypeError);
  for (const item of Array.isArray(value) ? value : [value])
    if (FORBIDDEN.test(String(item)))
      throw codedError('ERR_INVALID_CHAR', `Invalid character in header content ["${name}"]`, TypeError);
}

/** `message.headers` of a list of pairs: repeated ones joined, `set-cookie` as an array. */
export function joinHeaders(pairs: readonly [string, string][]): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [rawName, value] of pairs) {
    const name = rawName.toLowerCase();
    const before = headers[name];
    if (name === 'set-cookie') headers[name] = [...((before as string[] | undefined) ?? []), value];
    else if (before === undefined) headers[name] = value;
    else if (!SINGLE.has(name)) headers[name] = `${before as string}${name === 'cookie' ? '; ' : ', '}${value}`;
  }
  return headers;
}
