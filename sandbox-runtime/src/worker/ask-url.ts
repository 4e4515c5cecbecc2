import { AskError } from './ask-error.ts';
import { readHead } from './read-head.ts';

/** Far above what any server takes, and a parse of it is still quick. */
const MAX_URL_CHARS = 1024 * 1024;

const SETTABLE = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

/**
 * Parses a URL, or sets a part of one, with Node's own parser. `order` is JSON: `[url]`, `[url,
 * base]` or `[href, part, value]`. Answers JSON of the parts in the order of the guest's URL class,
 * or '' where there is no URL.
 */
export function answerUrl(order: string): string {
  if (order.length > MAX_URL_CHARS) throw new AskError('The URL is too long');
  const [first, second, third] = readHead(order) as unknown[];
  if (typeof first !== 'string') throw new AskError('The URL must be text');
  const url = typeof third === 'string' ? setPart(first, second, third) : URL.parse(first, asText(second));
  if (url === null) return '';
  const { href, origin, protocol, username, password, host, hostname, port, pathname, search, hash } = url;
  return JSON.stringify([href, origin, protocol, username, password, host, hostname, port, pathname, search, hash]);
}

function setPart(href: string, part: unknown, value: string): URL | null {
  const name = SETTABLE.find((settable) => settable === part);
  const url = URL.parse(href);
  if (name === undefined || url === null) throw new AskError('This is not supported');
  if (name === 'href') return URL.parse(value);
  url[name] = value;
  return url;
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
