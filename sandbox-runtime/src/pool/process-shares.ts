import { LIMITS } from '@headwater/shared';

/**
 * Part of all processes that one tenant may have, and at least the second number: one that it
 * shares and one for a run alone.
 */
const TENANT_SHARE = 1 / 4;
const MIN_OF_TENANT = 2;
/** A task that needs a process can wait for the end of one this short. */
const SHORT_MS = LIMITS.describeWallMs;

/** Reason for which a tenant has a process. */
export interface ProcessUse {
  tenantId: string;
  /** For this task and no other, before or after. */
  alone: boolean;
  /** How long the task may take. */
  wallMs: number;
}

/**
 * Decides which tenant may get another process. Most tenants need one. A tenant needs several for
 * runs that must be alone, or if long runs fill its process. A run that sleeps for minutes does not
 * return its process. So processes beyond a tenant's first are bounded:
 * - for one tenant: its share of all processes;
 * - for all together: half of the processes, one of them for short tasks. The rest is for first
 *   processes;
 * - beyond the second: no more than one tenant may have, so that other tenants still get theirs.
 */
export class ProcessShares {
  readonly #maxOfTenant: number;
  readonly #maxExtras: number;
  readonly #maxLongExtras: number;
  readonly #all = new Holdings();
  readonly #long = new Holdings();
  readonly #alone = new Holdings();

  constructor(maxProcesses: number) {
    this.#maxOfTenant = Math.max(MIN_OF_TENANT, Math.floor(maxProcesses * TENANT_SHARE));
    this.#maxLongExtras = Math.floor((maxProcesses - 1) / 2);
    this.#maxExtras = Math.min(this.#maxLongExtras + 1, maxProcesses - 1);
  }

  countOf(tenantId: string): number {
    return this.#all.of(tenantId);
  }

  mayTake(use: ProcessUse): boolean {
    const { tenantId, alone } = use;
    const own = this.#all.of(tenantId);
    if (own === 0) return true;
    // One process of its share is reserved for tasks that can share a process.
    if (own >= this.#maxOfTenant || (alone && this.#alone.of(tenantId) >= this.#maxOfTenant - 1)) return false;
    if (own > 1 && this.#all.extras >= this.#maxOfTenant - 1) return false;
    if (isLong(use) && this.#long.of(tenantId) > 0 && this.#long.extras >= this.#maxLongExtras) return false;
    return this.#all.extras < this.#maxExtras;
  }

  take(use: ProcessUse): void {
    for (const holdings of this.#holdingsOf(use)) holdings.add(use.tenantId);
  }

  giveBack(use: ProcessUse): void {
    for (const holdings of this.#holdingsOf(use)) holdings.remove(use.tenantId);
  }

  #holdingsOf(use: ProcessUse): Holdings[] {
    return [this.#all, ...(isLong(use) ? [this.#long] : []), ...(use.alone ? [this.#alone] : [])];
  }
}

/** A process that is shared has no end that is known. */
function isLong({ alone, wallMs }: ProcessUse): boolean {
  return !alone || wallMs > SHORT_MS;
}

/** How many each tenant has, and how many of all are not their tenant's first. */
class Holdings {
  readonly #counts = new Map<string, number>();
  #total = 0;

  of(tenantId: string): number {
    return this.#counts.get(tenantId) ?? 0;
  }

  get extras(): number {
    return this.#total - this.#counts.size;
  }

  add(tenantId: string): void {
    this.#counts.set(tenantId, this.of(tenantId) + 1);
    this.#total += 1;
  }

  remove(tenantId: string): void {
    const left = this.of(tenantId) - 1;
    if (left === 0) this.#counts.delete(tenantId);
    else this.#counts.set(tenantId, left);
    this.#total -= 1;
  }
}
