import { type LookupAddress, lookup, Resolver as DnsResolver } from 'node:dns';
import { LIMITS } from '@headwater/shared';
import type { Resolver } from './guard.ts';
import { EgressRefused } from './refusal.ts';

const QUERY_TIMEOUT_MS = 2_000;
const QUERY_TRIES = 2;

/** RFC 6761: all of these are this machine, whatever DNS says. */
const LOCALHOST = /^(.+\.)?localhost\.?$/i;

/**
 * Lookups of the system at the same time: each holds a thread of few that the whole process shares,
 * for as long as somebody's name server likes. More of them wait, tenants in turn, so many of one
 * tenant (LIMITS.maxSystemLookupsWaiting).
 */
const MAX_SYSTEM_LOOKUPS = 1;

/** DNS errors for an unknown name, or for a machine without a DNS server. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EBADNAME']);

/**
 * Resolves names that tenants give. `dns.lookup` alone would do it on two threads shared with the
 * whole process: two names whose servers never answer, and nobody's connection gets an address. So
 * a domain name is asked of DNS over sockets first; only where that answers that it knows no such
 * name is the system asked, for its hosts file and search domains. A name without a dot is the
 * system's own, asked for one at a time. IPv4 addresses come first: where IPv6 is half configured
 * they are the ones that work.
 *
 * `servers`: DNS servers as parseDnsServer reads them. Default: the system's. Where all of them
 * refuse to be asked the system is asked as well.
 */
export function createHostResolver(servers: readonly string[] = []): Resolver {
  const dns = new DnsResolver({ timeout: QUERY_TIMEOUT_MS, tries: QUERY_TRIES });
  if (servers.length > 0) dns.setServers(servers);
  const askSystem = createSystemLookup();
  return (hostname, done, tenantId) => {
    if (LOCALHOST.test(hostname)) {
      // Answered by a file: nobody else's name server can make this one wait.
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
