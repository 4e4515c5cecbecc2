import { createPacer, LIMITS } from '@headwater/shared';
import { createTenantPauses } from './tenant-pauses.ts';

/** Failed attempts that are made at once before the pace holds a tenant back, as time. */
const BURST_MS = 1_000;
const FAILURE_MS = 1_000 / LIMITS.failedAttemptsPerSecond;
/** Those that may fail begin together, so that one transaction records many of them. */
const PAUSE_MS = 500;
/** Lanes that found no room come back after deliveryLaneRetryMs. */
const SOON_MS = 2 * LIMITS.deliveryLaneRetryMs;
/** Items that wait in lanes of which no success is known, while failures hold the tenant back. */
const MAX_DOUBTFUL = 500;

/**
 * How many attempts of a tenant may fail while other tenants are active: failedAttemptsPerSecond.
 * What succeeds never pays. Without other tenants nothing is held back, and nothing is owed later.
 */
export interface FailurePace {
  /** An attempt of the tenant has failed, or is going to. */
  failed(tenantId: string): void;
  /** Whether one more may fail. False: `mayStart` is called for the tenant when it may. */
  mayFail(tenantId: string): boolean;
  /**
   * How many may wait of lanes that fail: as many as may fail until lanes come back; and of all
   * lanes of which no success is known, if failures hold the tenant back.
   */
  maxDoubtful(tenantId: string): { failing: number; all: number };
}

export interface FailurePaceOptions {
  hasOthers: () => boolean;
  mayStart: (tenantId: string) => void;
}

export function createFailurePace({ hasOthers, mayStart }: FailurePaceOptions): FailurePace {
  const failures = createPacer();
  const pause = createTenantPauses(mayStart);
  const aheadMs = (tenantId: string) => failures.owedMs(tenantId, performance.now()) - BURST_MS;
  return {
    failed(tenantId) {
      if (hasOthers()) failures.add(tenantId, FAILURE_MS, performance.now());
      else failures.forget(tenantId);
    },
    mayFail(tenantId) {
      const ms = aheadMs(tenantId);
      if (ms <= 0 || !hasOthers()) return true;
      pause(tenantId, Math.max(PAUSE_MS, Math.ceil(ms)));
      return false;
    },
    maxDoubtful(tenantId) {
      if (!hasOthers()) return { failing: Number.POSITIVE_INFINITY, all: Number.POSITIVE_INFINITY };
      const ms = aheadMs(tenantId);
      const failing = Math.max(0, Math.ceil((SOON_MS - ms) / FAILURE_MS));
      return { failing, all: ms > 0 ? MAX_DOUBTFUL : Number.POSITIVE_INFINITY };
    },
  };
}
