import { LIMITS } from '@headwater/shared';
import { parseRange, type AddressRange } from './address.ts';
import { createConnector, portOf, type Connector } from './connector.ts';
import { checkLiteral, checkPort, type DeniedPort, type Guard, type Resolver } from './guard.ts';
import { parseProxy } from './proxy.ts';
import { EgressRefused } from './refusal.ts';
import { createHostResolver } from './resolve-host.ts';

export interface EgressOptions {
  /** Ranges (`10.0.0.0/8`, `fd00::/8`, single addresses) that may be reached although they are not public. */
  allow: readonly string[];
  /**
   * Own listening ports and the database. Asked at every connection, because a port is often known only after listening.
   * They win over `allow`.
   */
  deniedPorts: () => readonly DeniedPort[];
  /** Default: createHostResolver(). */
  resolver?: Resolver;
  /** `http(s)://[user:password@]host:port`: every connection is made through it, to an address that was checked here. */
  proxy?: string;
}

/**
 * The one way out: every connection made for a tenant (a component's fetch, a delivery) is made by a connector from here.
 * http and https only. A literal address, and every address that a name resolves to, must be public or allowed, and the
 * connection is made to an address that was checked: there is no second lookup for DNS rebinding to answer.
 */
export interface Egress {
  /**
   * With TLS sessions of its own. A refused connection fails with EgressRefused. `connectTimeoutMs`: default LIMITS.connectTimeoutMs;
   * `tenantId`: on whose turn names are looked up.
   */
  createConnector(options?: { connectTimeoutMs?: number; tenantId?: string }): Connector;
  /** What can be said of a URL without connecting: its scheme, port and literal address. Throws EgressRefused. */
  checkUrl(url: URL): void;
}

/** Throws RangeError naming every entry of `allow` that is no range, and for a proxy that is none. */
export function createEgress(options: EgressOptions): Egress {
  const proxy = options.proxy === undefined ? undefined : parseProxy(options.proxy);
  // Reached by this process alone: a tenant who could talk to it would have a way out without a guard.
  const deniedProxy = proxy === undefined ? [] : [{ port: proxy.port, host: proxy.host }, { port: proxy.port }];
  const resolve = options.resolver ?? createHostResolver();
  const guard: Guard = {
    allowed: parseRanges(options.allow),
    deniedPorts: () => [...options.deniedPorts(), ...deniedProxy],
    resolve,
  };
  return {
    createConnector({ connectTimeoutMs = LIMITS.connectTimeoutMs, tenantId } = {}) {
      const own: Guard = { ...guard, resolve: (hostname, done) => resolve(hostname, done, tenantId) };
      return createConnector(own, connectTimeoutMs, proxy);
    },
    checkUrl(url) {
      if (url.protocol !== 'http:' && url.protocol !== 'https:') {
        throw new EgressRefused(`${url.protocol} URLs cannot be requested: use http: or https:`);
      }
      const hostname = url.hostname.replace(/^\[|\]$/g, '');
      checkPort(hostname, portOf(url));
      checkLiteral(guard, hostname);
    },
  };
}

function parseRanges(texts: readonly string[]): AddressRange[] {
  const ranges = texts.map((text) => ({ text, range: parseRange(text.trim()) }));
  const wrong = ranges.filter(({ range }) => range === undefined).map(({ text }) => text);
  if (wrong.length > 0) throw new RangeError(`Not address ranges such as 10.0.0.0/8: ${wrong.join(', ')}`);
  return ranges.map(({ range }) => range).filter((range) => range !== undefined);
}
