import { createActiveTenants, createReadPacer, LIMITS, type ActiveTenants } from '@headwater/shared';
import { createClientBytes } from './client-bytes.ts';

/**
 * Bodies that have not arrived whole: their senders may take a minute for them, with as many
 * connections as they like. Beyond LIMITS.maxUnfinishedBodyBytes of one account, connections of
 * those that were begun first are closed.
 */
export interface UnfinishedBodies {
  /**
   * `announced`: bytes, undefined for a chunked body. Returns undefined for a body that is too
   * small to count.
   */
  begin(accountId: string, announced: number | undefined, cutOff: () => void): UnfinishedBody | undefined;
}

interface UnfinishedBody {
  /**
   * Counts a received piece. Returns how many milliseconds to wait before the next read: see
   * LIMITS.readBytesPerSecond.
   */
  add(bytes: number): number;
  end(): void;
}

/**
 * `activeTenants`: the tenants that send any request. Default: only those whose bodies count here.
 */
export function createUnfinishedBodies(activeTenants: ActiveTenants = createActiveTenants()): UnfinishedBodies {
  const held = createClientBytes(LIMITS.maxUnfinishedBodyBytes);
  const pace = createReadPacer({
    activeTenants,
    bytesPerSecond: LIMITS.readBytesPerSecond,
    burstMs: LIMITS.readBurstMs,
  });
  return {
    begin(accountId, announced, cutOff) {
      if (announced !== undefined && announced <= LIMITS.smallBodyBytes) return undefined;
      const { add, end } = held.hold(accountId, cutOff);
      return {
        add(bytes) {
          const counted = Math.max(bytes, LIMITS.minPieceBytes);
          add(counted);
          return pace.waitMs(accountId, counted);
        },
        end,
      };
    },
  };
}
