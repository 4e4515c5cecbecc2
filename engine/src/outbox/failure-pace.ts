import { createPacer, LIMITS, type ActiveTenants } from '@headwater/shared';
import { createTenantPauses } from './tenant-pauses.ts';

/** Failed attempts that are made at once before the pace holds a tenant back, as time. */
const BURST_MS = 1_000;
const FAILURE_MS = 1_000 / LIMITS.failedAttemptsPerSecond;
/** Others that were here so recently may come back in the middle of a storm of failures. */
const OTHERS_MS = 60_000;
/**
 * Those that may fail begin together, so that one transaction records many of them. The pace is
 * asked again after each pause, because others may have left meanwhile.
 */
const PAUSE_MS = 500;
/** A timer may be early by less. */
const EARLY_MS = 5;
/**
 * Lanes that found no room come back after deliveryLaneRetryMs. No more is owed: attempts that
 * began before the first ones failed do not hold a tenant back for long.
 */
const SOON_MS = 2 * LIMITS.deliveryLaneRetryMs;
/** Items that wait in lanes of which no success is known, while failures hold the tenant back. */
const MAX_DOUBTFUL = 500;

/**
 * How many attempts of a tenant may fail while other tenants are active, or were within a minute,
 * or beside lanes of its own that answer (`hasLive`): failedAttemptsPerSecond. Neither successes
 * nor lanes that are trusted pay. Otherwise nothing is held back.
 */
export interface FailurePace {
  /** An attempt in a lane that is not trusted has failed, or is going to. */
  failed(tenantId: string, hasLive: boolean): void;
  /**
   * Whether one more may fail, with so many in flight of which nothing is known. False: `mayStart`
   * is called for the tenant soon, to ask again. Until then none of a lane that fails may begin,
   * however often this is asked. `isUnknown`: the next one is of a lane of which nothing is known.
   */
  mayFail(tenantId: string, unknownInFlight: number, hasLive: boolean, isUnknown: boolean): boolean;
  /**
   * How many may wait of lanes that fail: as many as may fail until lanes come back; and of all
   * lanes of which no success is known, if failures hold the tenant back.
   */
  maxDoubtful(tenantId: string, hasLive: boolean): { failing: number; all: number };
}

export interface FailurePaceOptions {
  activeTenants: ActiveTenants;
  mayStart: (tenantId: string) => void;
}

export function createFailurePace({ activeTenants, mayStart }: FailurePaceOptions): FailurePace {
  const failures = createPacer();
  const pause = createTenantPauses(mayStart);
  /** By tenant, the end of its pause. */
  const heldUntilMs = new Map<string, number>();
  let severalAtMs = Number.NEGATIVE_INFINITY;
  function hasOthers(): boolean {
    const nowMs = performance.now();
    if (activeTenants.hasSeveral(nowMs)) severalAtMs = nowMs;
    return nowMs - severalAtMs < OTHERS_MS;
  }
  const aheadMs = (tenantId: string) => failures.owedMs(tenantId, performance.now()) - BURST_MS;
  return {
    failed(tenantId, hasLive) {
      if (!hasLive && !hasOthers()) failures.forget(tenantId);
      else if (aheadMs(tenantId) <= SOON_MS) failures.add(tenantId, FAILURE_MS, performance.now());
    },
    mayFail(tenantId, unknownInFlight, hasLive, isUnknown) {
      // The next attempts of a tenant without recent failures are expected to succeed.
      const isFree = aheadMs(tenantId) <= -BURST_MS || !(hasLive || hasOthers());
      const nowMs = performance.now();
      const isHeld = nowMs < (heldUntilMs.get(tenantId) ?? 0);
      const ms = aheadMs(tenantId) + unknownInFlight * FAILURE_MS;
      if (isFree || (ms <= 0 && !isHeld)) {
        heldUntilMs.delete(tenantId);
        return true;
      }
      if (ms <= 0 && isUnknown) return true;
      if (!isHeld) heldUntilMs.set(tenantId, nowMs + PAUSE_MS - EARLY_MS);
      pause(tenantId, PAUSE_MS);
      return false;
    },
    maxDoubtful(tenantId, hasLive) {
      if (!hasLive && !hasOthers()) return { failing: Number.POSITIVE_INFINITY, all: Number.POSITIVE_INFINITY };
      const ms = aheadMs(tenantId);
      const failing = Math.max(0, Math.ceil((SOON_MS - ms) / FAILURE_MS));
      return { failing, all: ms > 0 ? MAX_DOUBTFUL : Number.POSITIVE_INFINITY };
    },
  };
}
