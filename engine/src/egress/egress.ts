import { LIMITS } from '@headwater/shared';
import { parseRange } from './address.ts';
import { createConnector, portOf, type Connector } from './connector.ts';
import { type DnsServer, parseDnsServer } from './dns-server.ts';
import { checkLiteral, checkPort, type DeniedPort, type Guard, type Resolver } from './guard.ts';
import { type EgressProxy, parseProxy } from './proxy.ts';
import { EgressRefused } from './refusal.ts';
import { createHostResolver } from './resolve-host.ts';

export interface EgressOptions {
  /**
   * Ranges (`10.0.0.0/8`, `fd00::/8`, single addresses) that may be reached although they are not
   * public.
   */
  allow: readonly string[];
  /**
   * Own listening ports and the database. Asked at every connection, because a port is often known
   * only after listening. They win over `allow`.
   */
  deniedPorts: () => readonly DeniedPort[];
  /**
   * `1.1.1.1`, `[::1]:5353`: asked for the names that tenants give. Default: the system's. They are
   * denied like own ports.
   */
  dnsServers?: readonly string[];
  /** Default: createHostResolver() with `dnsServers`. */
  resolver?: Resolver;
  /**
   * `http(s)://[user:password@]host:port`: every connection is made through it, to an address that
   * was checked here.
   */
  proxy?: string;
}

/**
 * The only way out: every connection for a tenant (a component's fetch, a delivery) is made by a
 * connector from here. http and https only. A literal address, and every address that a name
 * resolves to, must be public or allowed. The connection goes to the checked address: there is no
 * second lookup that DNS rebinding could answer.
 */
export interface Egress {
  /**
   * Each connector has its own TLS sessions. A refused connection fails with EgressRefused.
   * `connectTimeoutMs`: default LIMITS.connectTimeoutMs. `tenantId`: the tenant whose turn DNS
   * lookups use.
   */
  createConnector(options?: { connectTimeoutMs?: number; tenantId?: string }): Connector;
  /**
   * Checks a URL without connecting: its scheme, port and literal address. Throws EgressRefused.
   */
  checkUrl(url: URL): void;
  /** Adds to `deniedPorts` ports that are known only after the start. */
  deny(ports: () => readonly DeniedPort[]): void;
}

/**
 * Throws RangeError naming every entry of `allow` and `dnsServers` that is none, and for a proxy
 * that is none.
 */
export function createEgress(options: EgressOptions): Egress {
  const proxy = options.proxy === undefined ? undefined : parseProxy(options.proxy);
  const dnsServers = parseAll(options.dnsServers ?? [], parseDnsServer, 'DNS servers such as 1.1.1.1 or [::1]:5353');
  const resolve = options.resolver ?? createHostResolver(options.dnsServers?.map((server) => server.trim()));
  const resolveDenied = dnsServers.length === 0 ? resolve : createHostResolver();
  let more: () => readonly DeniedPort[] = () => [];
  const listed = deniedPortsOf(options, proxy === undefined ? dnsServers : [...dnsServers, proxy]);
  const guard: Guard = {
    allowed: parseAll(options.allow, parseRange, 'address ranges such as 10.0.0.0/8'),
    deniedPorts: () => [...listed(), ...more()],
    resolve,
    resolveDenied,
  };
  return {
    createConnector({ connectTimeoutMs = LIMITS.connectTimeoutMs, tenantId } = {}) {
      const own: Guard = {
        ...guard,
        resolve: (hostname, done) => resolve(hostname, done, tenantId),
        resolveDenied: (hostname, done) => resolveDenied(hostname, done, tenantId),
      };
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
    deny: (ports) => void (more = ports),
  };
}

/**
 * `operators`: servers that only this process may reach. A tenant with access to the proxy would
 * bypass the guard. A tenant with access to a DNS server would learn the names of the operator's
 * network.
 */
function deniedPortsOf(
  { deniedPorts }: EgressOptions,
  operators: readonly (DnsServer | EgressProxy)[],
): Guard['deniedPorts'] {
  const denied = operators.flatMap(({ port, host }): DeniedPort[] => [{ port, host }, { port }]);
  return () => [...deniedPorts(), ...denied];
}

function parseAll<T>(texts: readonly string[], parse: (text: string) => T | undefined, what: string): T[] {
  const parsed = texts.map((text) => ({ text, value: parse(text.trim()) }));
  const wrong = parsed.filter(({ value }) => value === undefined).map(({ text }) => text);
  if (wrong.length > 0) throw new RangeError(`Not ${what}: ${wrong.join(', ')}`);
  return parsed.map(({ value }) => value).filter((value) => value !== undefined);
}
