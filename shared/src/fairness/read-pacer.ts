import { createPacer } from './pacer.ts';
import type { ActiveTenants } from './active-tenants.ts';

/**
 * Limits the pace of reading a tenant's large input while other tenants are active. Each byte
 * passes the node's memory and thread, and a local process or host sends as fast as both can take
 * it.
 */
export interface ReadPacer {
  /**
   * How long nothing more of the tenant's is to be read after these bytes. 0: there is no need to
   * wait.
   */
  waitMs(tenantId: string, bytes: number): number;
}

export interface ReadPacerOptions {
  activeTenants: ActiveTenants;
  bytesPerSecond: number;
  /** Tenants ahead of the pace by less than this do not wait. */
  burstMs: number;
  /** Default: performance.now. */
  nowMs?: () => number;
}

export function createReadPacer(options: ReadPacerOptions): ReadPacer {
  const { activeTenants, bytesPerSecond, burstMs, nowMs = () => performance.now() } = options;
  const debts = createPacer();
  return {
    waitMs(tenantId, bytes) {
      const now = nowMs();
      // Count nothing: the run or request was already counted.
      activeTenants.saw(tenantId, now, 0);
      if (!activeTenants.hasSeveral(now)) {
        debts.forget(tenantId);
        return 0;
      }
      debts.add(tenantId, (bytes / bytesPerSecond) * 1_000, now);
      return Math.max(0, Math.ceil(debts.owedMs(tenantId, now) - burstMs));
    },
  };
}
