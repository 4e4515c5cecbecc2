import { LIMITS, type Presence } from '@headwater/shared';

/**
 * Answers of megabytes are read at a pace while others are here: each passes the node's memory and thread, and what comes from a
 * fast host next door comes as fast as both can take it.
 */
export interface ReadPace {
  /** How long nothing more is to be read of the tenant's answers after these bytes. 0: there is no need to wait. */
  waitMs(tenantId: string, bytes: number): number;
}

export function createReadPace(presence: Presence, nowMs: () => number = () => performance.now()): ReadPace {
  /** When what was read would have been read at the pace. Of those alone who are ahead of it. */
  const paidAtMs = new Map<string, number>();
  return {
    waitMs(tenantId, bytes) {
      const now = nowMs();
      presence.saw(tenantId, now);
      if (!presence.hasSeveral(now)) {
        paidAtMs.delete(tenantId);
        return 0;
      }
      const known = paidAtMs.get(tenantId);
      if (known === undefined) for (const [other, atMs] of paidAtMs) if (atMs <= now) paidAtMs.delete(other);
      const atMs = Math.max(now, known ?? 0) + (bytes / LIMITS.fetchReadBytesPerSecond) * 1_000;
      paidAtMs.set(tenantId, atMs);
      return Math.max(0, Math.ceil(atMs - now - LIMITS.fetchReadBurstMs));
    },
  };
}
