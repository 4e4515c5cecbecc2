import { HeadwaterError } from '@headwater/shared';
import { TenantQueue } from '../starter/tenant-queue.ts';

export interface BuildSlotsOptions {
  /** Builds at a time. */
  max: number;
  /** Builds of one tenant that wait; the next is refused, with this name of the limit. */
  maxWaiting: number;
  limitName: 'maxQueuedBuildsPerTenant' | 'maxQueuedBundlesPerTenant';
  /** A build of more makes its tenant slow. */
  slowMs: number;
  /** For how long. Default 60 000. */
  slowForMs?: number;
  /**
   * False: no build of the tenant begins. The code that makes it true again must call `look`.
   * Default: always true.
   */
  mayBegin?: (tenantId: string) => boolean;
}

interface Build {
  tenantId: string;
  beganAtMs: number;
}

interface Waiting {
  tenantId: string;
  start: (build: Build) => void;
}

const SLOW_FOR_MS = 60_000;

/**
 * Slots for builds. Each build needs a core, so few run at a time, and tenants take turns. A
 * running build may use its whole time limit. So neither one tenant nor all recently slow tenants
 * together get every slot. Otherwise the others would always wait for the slowest code.
 */
export class BuildSlots {
  readonly #options: Required<BuildSlotsOptions>;
  /** Slots that one tenant, or all slow tenants together, may use. */
  readonly #maxShared: number;
  readonly #waiting = new TenantQueue<Waiting>();
  readonly #counts = new Map<string, number>();
  readonly #builds = new Set<Build>();
  /** Until when, in milliseconds of `performance.now()`; the earliest first. */
  readonly #slowUntil = new Map<string, number>();

  constructor(options: BuildSlotsOptions) {
    this.#options = { slowForMs: SLOW_FOR_MS, mayBegin: () => true, ...options };
    this.#maxShared = Math.max(1, options.max - 1);
  }

  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    const count = this.#counts.get(tenantId) ?? 0;
    if (count > this.#options.maxWaiting) throw this.#tooMany(count);
    this.#counts.set(tenantId, count + 1);
    const build = await new Promise<Build>((start) => {
      this.#waiting.add(tenantId, { tenantId, start });
      this.#serve();
    });
    try {
      return await work();
    } finally {
      this.#leave(build);
    }
  }

  /** Begins what may begin by now. */
  look(): void {
    this.#serve();
  }

  #tooMany(used: number): HeadwaterError {
    const { limitName: name, maxWaiting: value } = this.#options;
    const message = `${used} components of this account are being built: try again later`;
    return new HeadwaterError('RATE_LIMITED', message, { limit: { name, value, used } });
  }

  #leave(build: Build): void {
    const { tenantId } = build;
    const left = (this.#counts.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#counts.delete(tenantId);
    else this.#counts.set(tenantId, left);
    this.#builds.delete(build);
    if (this.#tookLong(build)) {
      this.#slowUntil.delete(tenantId);
      this.#slowUntil.set(tenantId, performance.now() + this.#options.slowForMs);
    }
    this.#serve();
  }

  #serve(): void {
    this.#forgetSlow();
    this.#waiting.serve(({ tenantId, start }) => {
      if (!this.#mayBegin(tenantId)) return false;
      const build = { tenantId, beganAtMs: performance.now() };
      this.#builds.add(build);
      start(build);
      return true;
    });
  }

  #mayBegin(tenantId: string): boolean {
    if (!this.#options.mayBegin(tenantId)) return false;
    const builds = [...this.#builds];
    if (builds.length >= this.#options.max) return false;
    if (builds.filter((build) => build.tenantId === tenantId).length >= this.#maxShared) return false;
    if (!this.#slowUntil.has(tenantId)) return true;
    const slow = builds.filter((build) => this.#slowUntil.has(build.tenantId) || this.#tookLong(build));
    return slow.length < this.#maxShared;
  }

  #tookLong({ beganAtMs }: Build): boolean {
    return performance.now() - beganAtMs > this.#options.slowMs;
  }

  #forgetSlow(): void {
    const nowMs = performance.now();
    for (const [tenantId, untilMs] of this.#slowUntil) {
      if (untilMs > nowMs) return;
      this.#slowUntil.delete(tenantId);
    }
  }
}
