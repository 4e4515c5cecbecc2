import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { LIMITS } from '@headwater/shared';
import { parseAddress, parseRange, type AddressRange } from './address.ts';
import {
  checkDenied,
  checkLiteral,
  checkPort,
  resolveChecked,
  type DeniedPort,
  type Guard,
  type Resolver,
} from './guard.ts';
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
}

/**
 * The one way out: every connection made for a tenant (a component's fetch, a delivery) is made by an agent from here.
 * http and https only. A literal address, and every address that a name resolves to, must be public or allowed, and the
 * connection is made to an address that was checked: there is no second lookup for DNS rebinding to answer.
 */
export interface Egress {
  /**
   * A pool per origin with keep-alive, HTTP/1.1, without timeouts of its own but for connecting (default
   * LIMITS.connectTimeoutMs). `connections`: the most to one origin. A refused connection fails its request with
   * EgressRefused. The caller destroys the agent.
   */
  createAgent(options: { connections: number; connectTimeoutMs?: number }): Agent;
  /** What can be said of a URL without connecting: its scheme, port and literal address. Throws EgressRefused. */
  checkUrl(url: URL): void;
}

/** Node's own 250 ms is less than a round trip across the world takes on a slow line: a healthy address would be given up. */
const FAMILY_ATTEMPT_MS = 500;

/** One connector a port, since `lookup` is not told the port. Beyond this many they start anew; only TLS sessions are lost. */
const MAX_CONNECTORS = 64;

/** Throws RangeError naming every entry of `allow` that is no range. */
export function createEgress(options: EgressOptions): Egress {
  const guard: Guard = {
    allowed: parseRanges(options.allow),
    deniedPorts: options.deniedPorts,
    resolve: options.resolver ?? createHostResolver(),
  };
  return {
    createAgent: ({ connections, connectTimeoutMs }) =>
      new Agent({
        connect: createConnector(guard, connectTimeoutMs ?? LIMITS.connectTimeoutMs),
        connections,
        pipelining: 1,
        // One request a connection at a time: aborting it ends that request alone.
        allowH2: false,
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
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

function createConnector(guard: Guard, timeoutMs: number): buildConnector.connector {
  const connectors = new Map<number, buildConnector.connector>();
  function connectorFor(port: number): buildConnector.connector {
    const known = connectors.get(port);
    if (known !== undefined) return known;
    if (connectors.size >= MAX_CONNECTORS) connectors.clear();
    const made = buildConnector({
      timeout: timeoutMs,
      allowH2: false,
      lookup: createLookup(guard, port),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: FAMILY_ATTEMPT_MS,
    });
    connectors.set(port, made);
    return made;
  }
  return (target, callback) => {
    const port = portOf(target);
    try {
      checkPort(target.hostname, port);
      checkLiteral(guard, target.hostname);
    } catch (error) {
      callback(error as EgressRefused, null);
      return;
    }
    // net.connect asks `lookup` about names only; a literal address is checked here or nowhere.
    const literal = isIP(target.hostname) === 0 ? undefined : parseAddress(target.hostname);
    checkDenied(guard, target.hostname, port, literal ? [literal] : [], (refused) => {
      if (refused) callback(refused, null);
      else connectorFor(port)(target, callback);
    });
  };
}

function createLookup(guard: Guard, port: number): LookupFunction {
  return (hostname, options, callback) => {
    resolveChecked(guard, hostname, port, (error, found) => {
      const [first] = found;
      if (error !== null || first === undefined) callback(error, '', 0);
      else if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}

function portOf(target: { protocol: string; port: string }): number {
  if (target.port !== '') return Number(target.port);
  return target.protocol === 'https:' ? 443 : 80;
}

function parseRanges(texts: readonly string[]): AddressRange[] {
  const ranges = texts.map((text) => ({ text, range: parseRange(text.trim()) }));
  const wrong = ranges.filter(({ range }) => range === undefined).map(({ text }) => text);
  if (wrong.length > 0) throw new RangeError(`Not address ranges such as 10.0.0.0/8: ${wrong.join(', ')}`);
  return ranges.map(({ range }) => range).filter((range) => range !== undefined);
}
