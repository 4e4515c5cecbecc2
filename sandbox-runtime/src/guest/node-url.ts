import { toText } from './intrinsics.ts';

/** Node's `url` and `querystring`, as far as they are in use beside the URL class. */
export function makeNodeUrl(querystring: Record<string, unknown>): Record<string, unknown> {
  const parseQuery = querystring['parse'] as (text: string) => unknown;
  return {
    URL,
    URLSearchParams,
    parse: (text: string, withQuery = false) => parseUrl(text, withQuery ? parseQuery : undefined),
    format: (url: unknown) => formatUrl(url),
    resolve: (from: string, to: string) => resolveUrl(from, to),
    domainToASCII: (domain: string) => hostOf(domain),
    domainToUnicode: (domain: string) => domain,
  };
}

function parseUrl(text: string, parseQuery: ((text: string) => unknown) | undefined): Record<string, unknown> {
  const isRelative = !/^[a-z][a-z0-9+.-]*:/i.test(text);
  const url = new URL(text, isRelative ? 'relative://host' : undefined);
  const query = url.search.slice(1);
  return {
    href: isRelative ? text : url.href,
    protocol: isRelative ? null : url.protocol,
    slashes: isRelative ? null : true,
    auth: url.username === '' ? null : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`,
    host: isRelative ? null : url.host,
    hostname: isRelative ? null : url.hostname,
    port: url.port === '' ? null : url.port,
    pathname: url.pathname,
    search: url.search === '' ? null : url.search,
    query: parseQuery === undefined ? query || null : parseQuery(query),
    path: url.pathname + url.search,
    hash: url.hash === '' ? null : url.hash,
  };
}

function formatUrl(url: unknown): string {
  if (typeof url === 'string' || url instanceof URL) return String(url);
  const { protocol, host, hostname, port, pathname, search, query, hash } = url as Record<string, unknown>;
  const authority =
    host ?? (hostname === undefined || hostname === null ? '' : `${toText(hostname)}${port ? `:${toText(port)}` : ''}`);
  const scheme = typeof protocol === 'string' ? `${protocol.replace(/:$/, '')}:` : '';
  const text =
    typeof search === 'string'
      ? search
      : typeof query === 'object' && query !== null
        ? `?${String(new URLSearchParams(query as Record<string, string>))}`
        : '';
  return `${scheme}${authority ? '//' : ''}${toText(authority)}${toText(pathname ?? '')}${text}${toText(hash ?? '')}`;
}

function resolveUrl(from: string, to: string): string {
  const resolved = new URL(to, new URL(from, 'resolve://'));
  return resolved.protocol === 'resolve:' ? resolved.pathname + resolved.search + resolved.hash : resolved.href;
}

function hostOf(domain: string): string {
  try {
    return new URL(`http://${domain}`).hostname;
  } catch {
    // Node answers an empty string for what is no domain.
    return '';
  }
}

type QueryValue =
  | string
  | number
  | boolean
  | bigint
  | readonly (string | number | boolean | bigint)[]
  | null
  | undefined;

export function makeQuerystring(): Record<string, unknown> {
  const escape = (text: unknown): string => encodeURIComponent(String(text)).replaceAll('!', '%21');
  const unescape = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      // Malformed escapes stay as they are, as in Node.
      return text;
    }
  };
  const parse = (text: string, separator = '&', equals = '='): Record<string, string | string[]> => {
    const parsed = Object.create(null) as Record<string, string | string[]>;
    for (const pair of text === '' ? [] : text.split(separator).slice(0, 1000)) {
      const at = pair.indexOf(equals);
      const name = unescape((at < 0 ? pair : pair.slice(0, at)).replaceAll('+', ' '));
      const value = at < 0 ? '' : unescape(pair.slice(at + equals.length).replaceAll('+', ' '));
      const before = parsed[name];
      parsed[name] = before === undefined ? value : [...(Array.isArray(before) ? before : [before]), value];
    }
    return parsed;
  };
  const stringify = (values: Record<string, QueryValue> = {}, separator = '&', equals = '='): string =>
    Object.entries(values)
      .flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value]).map((item) => `${escape(name)}${equals}${escape(item ?? '')}`),
      )
      .join(separator);
  return { parse, decode: parse, stringify, encode: stringify, escape, unescape };
}
