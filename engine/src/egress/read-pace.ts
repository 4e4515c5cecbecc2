import { createDebts, LIMITS, type Presence } from '@headwater/shared';

/**
 * Answers of megabytes are read at a pace while others are here: each passes the node's memory and thread, and what comes from a
 * fast host next door comes as fast as both can take it.
 */
export interface ReadPace {
  /** How long nothing more is to be read of the tenant's answers after these bytes. 0: there is no need to wait. */
  waitMs(tenantId: string, bytes: number): number;
}

export function createReadPace(presence: Presence, nowMs: () => number = () => performance.now()): ReadPace {
  const debts = createDebts();
  return {
    waitMs(tenantId, bytes) {
      const now = nowMs();
      presence.saw(tenantId, now);
      if (!presence.hasSeveral(now)) {
        debts.forget(tenantId);
        return 0;
      }
      debts.add(tenantId, (bytes / LIMITS.fetchReadBytesPerSecond) * 1_000, now);
      return Math.max(0, Math.ceil(debts.owedMs(tenantId, now) - LIMITS.fetchReadBurstMs));
    },
  };
}
