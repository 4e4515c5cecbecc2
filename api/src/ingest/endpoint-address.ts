import type { IncomingMessage } from 'node:http';

/** Target of a request to an endpoint: its key, and the path and query that the source gets. */
export interface EndpointAddress {
  key: string;
  /** As it was sent, not decoded; `/` where nothing follows the key. */
  path: string;
  /** Without the question mark; '' if absent. */
  query: string;
  /**
   * The endpoint has a host of its own (`<key>.<domain>`), so browsers keep it apart from
   * everything else here.
   */
  ownHost: boolean;
}

export const ENDPOINT_PREFIX = '/e/';

/**
 * Undefined for a request that is not to an endpoint. `domain` is what host-style endpoints end
 * with, in lower case.
 */
export function endpointAddress(request: IncomingMessage, domain: string | undefined): EndpointAddress | undefined {
  const target = originForm(request.url ?? '/');
  const label = domain === undefined ? undefined : hostLabel(request.headers.host, domain);
  if (label !== undefined) return { key: label, ...splitTarget(target), ownHost: true };
  if (!target.startsWith(ENDPOINT_PREFIX)) return undefined;
  const end = keyEnd(target);
  return { key: target.slice(ENDPOINT_PREFIX.length, end), ...splitTarget(target.slice(end)), ownHost: false };
}

function keyEnd(target: string): number {
  for (let at = ENDPOINT_PREFIX.length; at < target.length; at++) {
    const char = target.charCodeAt(at);
    if (char === 0x2f || char === 0x3f) return at;
  }
  return target.length;
}

function splitTarget(target: string): { path: string; query: string } {
  const mark = target.indexOf('?');
  if (mark === -1) return { path: target === '' ? '/' : target, query: '' };
  return { path: mark === 0 ? '/' : target.slice(0, mark), query: target.slice(mark + 1) };
}

/** Path and query. Clients that think they talk to a proxy send the whole URL. */
export function originForm(url: string): string {
  if (url.startsWith('/')) return url;
  const rest = url.replace(/^https?:\/\/[^/?]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function hostLabel(host: string | undefined, domain: string): string | undefined {
  const name = host?.replace(/:\d+$/, '').toLowerCase();
  if (name === undefined || !name.endsWith(`.${domain}`)) return undefined;
  const label = name.slice(0, -domain.length - 1);
  return label.includes('.') ? undefined : label;
}
