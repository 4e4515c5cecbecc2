import { type LookupAddress, lookup, Resolver as DnsResolver } from 'node:dns';
import { LIMITS } from '@headwater/shared';
import type { Resolver } from './guard.ts';
import { EgressRefused } from './refusal.ts';

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/** RFC 6761: all these names are this machine, whatever DNS answers. */
const LOCALHOST = /^(.+\.)?localhost\.?$/i;

/**
 * Concurrent lookups through the system. Each holds one of the few threads of the process for as
 * long as a tenant's name server takes. Further lookups wait, tenants in turn, up to
 * LIMITS.maxSystemLookupsWaiting of one tenant.
 */
const MAX_SYSTEM_LOOKUPS = 1;

/** DNS errors for an unknown name, or for a machine without a DNS server. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME']);

/**
 * Resolves names that tenants give. `dns.lookup` alone would use two threads that the whole process
 * shares. Two names whose servers never answer would then block every tenant's connections. So DNS
 * is asked over sockets first for a domain name. The system, with its hosts file and search
 * domains, is asked only if DNS does not know the name. A name without a dot goes to the system,
 * one at a time. IPv4 addresses come first: they work where IPv6 is only half configured.
 *
 * `servers`: DNS servers as parseDnsServer reads them. Default: the system's. If all of them refuse
 * the query, the system is asked as well.
 */
export function createHostResolver(servers: readonly string[] = []): Resolver {
  const dns = new DnsResolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers.length > 0) dns.setServers(servers);
  const askSystem = createSystemLookup();
  return (hostname, done, tenantId) => {
    if (LOCALHOST.test(hostname)) {
      // Answered from a file: no foreign name server can delay it.
      lookup('localhost', { all: true }, done);
      return;
    }
    if (!hostname.replace(/\.$/, '').includes('.')) {
      askSystem(hostname, done, tenantId);
      return;
    }
    queryBoth(dns, hostname, (error, addresses) => {
      if (error !== null && UNKNOWN.has(error.code ?? '')) askSystem(hostname, done, tenantId);
      else done(error, addresses);
    });
  };
}

function createSystemLookup(): Resolver {
  // A tenant that was served is deleted and set again, which puts it at the end.
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  const startNext = () => {
    const [first] = waiting;
    if (first === undefined) return;
    const [tenant, [start, ...others]] = first;
    waiting.delete(tenant);
    if (others.length > 0) waiting.set(tenant, others);
    start?.();
  };
  return (hostname, done, tenantId = '') => {
    const start = () => {
      running++;
      lookup(hostname, { all: true }, (error, addresses) => {
        running--;
        startNext();
        done(error, addresses);
      });
    };
    if (running < MAX_SYSTEM_LOOKUPS) return start();
    const own = waiting.get(tenantId) ?? [];
    const limit = {
      name: 'maxSystemLookupsWaiting',
      value: LIMITS.maxSystemLookupsWaiting,
      used: own.length + 1,
    } as const;
    if (limit.used > limit.value)
      return done(
        new EgressRefused(`${hostname} was not looked up: ${limit.value} names of the account wait already`, limit),
        [],
      );
    waiting.set(tenantId, [...own, start]);
  };
}

function queryBoth(dns: DnsResolver, hostname: string, done: Parameters<Resolver>[1]): void {
  const found: LookupAddress[][] = [[], []];
  let failure: NodeJS.ErrnoException | null = null;
  let waiting = 2;
  const answer = (family: 4 | 6) => (error: NodeJS.ErrnoException | null, addresses: string[] | undefined) => {
    // If both lookups fail, keep a failure other than "unknown": a server that timed out may know
    // the name.
    if (error !== null && (failure === null || UNKNOWN.has(failure.code ?? ''))) failure = error;
    found[family === 4 ? 0 : 1] = (addresses ?? []).map((address) => ({ address, family }));
    waiting--;
    if (waiting > 0) return;
    const all = found.flat();
    done(all.length > 0 ? null : failure, all);
  };
  dns.resolve4(hostname, answer(4));
  dns.resolve6(hostname, answer(6));
}
