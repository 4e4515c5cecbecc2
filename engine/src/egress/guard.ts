import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { LIMITS } from '@headwater/shared';
import { isInRanges, isPublicAddress, parseAddress, type Address, type AddressRange } from './address.ts';
import { BLOCKED_PORTS } from './blocked-ports.ts';
import { EgressRefused, isEgressRefused, type NameFault } from './refusal.ts';

/**
 * Returns every address of a name, in the form of `dns.lookup` with `all`. `tenantId`: the tenant
 * whose turn a waiting lookup takes. An EgressRefused error is shown to the tenant; any other error
 * means that the name is unknown.
 */
export type Resolver = (
  hostname: string,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
  tenantId?: string,
) => void;

/** A port that is never reached: of this machine, or of `host` (a name or an address). */
export interface DeniedPort {
  port: number;
  host?: string;
}

export interface Guard {
  allowed: readonly AddressRange[];
  deniedPorts: () => readonly DeniedPort[];
  resolve: Resolver;
  /**
   * For names in `deniedPorts`, which must resolve to the addresses at which this process reaches
   * them. Default: `resolve`.
   */
  resolveDenied?: Resolver;
}

/** Addresses tried for one name. A name with hundreds would make one request probe them all. */
const MAX_ADDRESSES_TRIED = 8;

const HINT = 'The operator of this server can allow such addresses with HEADWATER_EGRESS_ALLOW.';

/** Throws for a port that no request may use, whatever the address. */
export function checkPort(hostname: string, port: number): void {
  if (BLOCKED_PORTS.has(port))
    throw new EgressRefused(`Port ${port} of ${hostname} is not reached: it is not an HTTP port`);
}

/**
 * Throws where `hostname` (without brackets) is a literal address that is neither public nor
 * allowed.
 */
export function checkLiteral(guard: Guard, hostname: string): void {
  if (isIP(hostname) === 0) return;
  const address = parseAddress(hostname);
  if (address === undefined || !isReachable(guard, address)) {
    throw new EgressRefused(`${hostname} is not a public address. ${HINT}`);
  }
}

/**
 * Returns all addresses of a name, or none. One private address refuses the whole name, because the
 * guard does not choose which one a connection takes. Unknown and private names get the same
 * message, so that a tenant cannot probe for names of the operator's network. A name with more than
 * LIMITS.maxNameAddresses is refused before any of them is read: each costs time of the thread.
 */
export function resolveChecked(
  guard: Guard,
  hostname: string,
  port: number,
  done: (error: Error | null, addresses: LookupAddress[]) => void,
): void {
  guard.resolve(hostname, (error, found) => {
    if (isEgressRefused(error)) return done(error, []);
    if (error === null && found.length > LIMITS.maxNameAddresses)
      return done(refuseForAddresses(hostname, found.length), []);
    const addresses = error === null ? found.map((entry) => parseAddress(entry.address)) : [];
    const known = addresses.filter((address) => address !== undefined);
    if (
      known.length === 0 ||
      known.length < addresses.length ||
      !known.every((address) => isReachable(guard, address))
    ) {
      const details = { nodeCode: 'ENOTFOUND', nameFault: nameFaultOf(error, found) } as const;
      done(new EgressRefused(`No public address was found for ${hostname}. ${HINT}`, undefined, details), []);
      return;
    }
    checkDenied(guard, hostname, port, known, (refused) => {
      done(refused, refused ? [] : found.slice(0, MAX_ADDRESSES_TRIED));
    });
  });
}

/** Codes of a name server that knows no address. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

function nameFaultOf(error: NodeJS.ErrnoException | null, found: readonly LookupAddress[]): NameFault {
  if (error !== null) return UNKNOWN.has(String(error.code)) ? 'unknown' : 'not-looked-up';
  return found.length === 0 ? 'unknown' : 'not-allowed';
}

/**
 * As resolveChecked, for a literal address (without brackets; checkLiteral has been asked) as well
 * as for a name.
 */
export function checkedAddresses(
  guard: Guard,
  hostname: string,
  port: number,
  done: (error: Error | null, addresses: string[]) => void,
): void {
  const literal = isIP(hostname) === 0 ? undefined : parseAddress(hostname);
  if (literal === undefined) {
    resolveChecked(guard, hostname, port, (error, found) =>
      done(
        error,
        found.map((entry) => entry.address),
      ),
    );
    return;
  }
  checkDenied(guard, hostname, port, [literal], (refused) => done(refused, refused ? [] : [literal.toString()]));
}

/**
 * Answers a refusal where one of `addresses` is the machine of a denied port. Synchronous unless a
 * denied host is a name.
 */
export function checkDenied(
  guard: Guard,
  hostname: string,
  port: number,
  addresses: readonly Address[],
  done: (refused: EgressRefused | null) => void,
): void {
  // Many nodes have the same port, and where their machines share an address each is taken for this
  // one.
  const denied = guard.deniedPorts().filter((entry) => entry.port === port);
  const hosts = new Set(denied.map((entry) => entry.host));
  let waiting = 1;
  let answered = false;
  function settle(isHit: boolean): void {
    waiting--;
    if (answered || (!isHit && waiting > 0)) return;
    answered = true;
    done(isHit ? new EgressRefused(`Port ${port} of ${hostname} is not reached from here`) : null);
  }
  for (const host of hosts) {
    waiting++;
    matchHost(guard, host, addresses, settle);
  }
  settle(false);
}

/** A denied name that cannot be resolved counts as a hit: closed rather than open. */
function matchHost(
  guard: Guard,
  host: string | undefined,
  addresses: readonly Address[],
  done: (isHit: boolean) => void,
): void {
  if (host === undefined) {
    const own = listOwnAddresses();
    done(addresses.some((address) => isThisMachine(address, own)));
    return;
  }
  const literal = parseAddress(host);
  if (literal !== undefined) {
    done(addresses.some((address) => address.toString() === literal.toString()));
    return;
  }
  const resolve = guard.resolveDenied ?? guard.resolve;
  resolve(host, (error, found) => {
    const denied = new Set(found?.map((entry) => parseAddress(entry.address)?.toString()));
    done(error !== null || addresses.some((address) => denied.has(address.toString())));
  });
}

function refuseForAddresses(hostname: string, used: number): EgressRefused {
  const limit = { name: 'maxNameAddresses', value: LIMITS.maxNameAddresses, used } as const;
  return new EgressRefused(
    `${hostname} has ${used} addresses: a name is reached that has ${limit.value} at most`,
    limit,
  );
}

function isReachable(guard: Guard, address: Address): boolean {
  return isPublicAddress(address) || isInRanges(address, guard.allowed);
}

// Linux connects 0.0.0.0 and :: to itself.
function isThisMachine(address: Address, own: ReadonlySet<string>): boolean {
  const range = address.range();
  return range === 'loopback' || range === 'unspecified' || own.has(address.toString());
}

function listOwnAddresses(): Set<string> {
  const entries = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return new Set(entries.map((entry) => parseAddress(entry.address)?.toString() ?? entry.address));
}
