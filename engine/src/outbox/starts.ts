import { createPacer, createPauses, LIMITS, type ActiveTenants } from '@headwater/shared';
import { pauseAtPaceMs } from '../fairness/index.ts';
import { createFailurePace, type FailurePace } from './failure-pace.ts';
import { createTenantPauses } from './tenant-pauses.ts';

/**
 * Starts in one turn of a tenant that gives way. After a turn of the event loop, a busy thread is
 * left to others for a while. A start takes about 0.3 ms, and a request about a dozen turns, so
 * hundreds of starts would delay every tenant.
 */
const MAX_STARTS_GIVING_WAY = 2;
/**
 * Starts per turn of a tenant that is not throttled: beside a light tenant, and where all other
 * tenants are busy.
 */
const MAX_STARTS_BESIDE_LIGHT = 4;
const MAX_STARTS_BESIDE_BUSY = 16;

/** Unused starts accumulate for this long. */
const BURST_MS = 10_000;
/**
 * Lanes that found no room come back after deliveryLaneRetryMs: what begins until then is at hand.
 */
const SOON_MS = 2 * LIMITS.deliveryLaneRetryMs;

const PACE = { smallChars: LIMITS.smallSendChars, charsPerSecond: LIMITS.sendCharsPerSecond };

/**
 * How many attempts of a tenant may begin: at most its share per second. While other tenants are
 * active, few begin in each turn, fewest for a throttled tenant, and large ones at a pace. Attempts
 * that fail have a pace as well (failure-pace.ts).
 */
export interface Starts {
  /** In this turn. 0: `mayStart` is called for the tenant when there may be more. */
  maxPerTurn(tenantId: string): number;
  began(tenantId: string, chars: number): void;
  /** As many as its share a second allows until lanes come back; those that wait are among them. */
  soon(tenantId: string): number;
  failures: FailurePace;
  /** `mayStart` is called for all of them in the next turn, however often this is asked for. */
  nextTurn(): void;
}

export interface StartsOptions {
  activeTenants: ActiveTenants;
  /** Rate of one tenant; undefined while it is unknown. */
  perSecondOf: (tenantId: string) => number | undefined;
  mayStart: (tenantId?: string) => void;
}

export function createStarts({ activeTenants, perSecondOf, mayStart }: StartsOptions): Starts {
  const debts = createPacer();
  /** How far ahead of their share tenants are. */
  const rates = createPacer();
  const pause = createTenantPauses(mayStart);
  const hasOthers = () => activeTenants.hasSeveral(performance.now());
  /** A tenant is throttled in this turn. */
  let givesWay = false;

  return {
    maxPerTurn(tenantId) {
      const aheadMs = rates.owedMs(tenantId, performance.now()) - BURST_MS;
      if (aheadMs > 0) {
        pause(tenantId, Math.ceil(aheadMs));
        return 0;
      }
      if (!hasOthers()) return Number.POSITIVE_INFINITY;
      const owedMs = debts.owedMs(tenantId, performance.now());
      if (owedMs <= 0) {
        const nowMs = performance.now();
        if (!activeTenants.hasLightOther(tenantId, nowMs)) return MAX_STARTS_BESIDE_BUSY;
        if (!activeTenants.mustGiveWay(tenantId, nowMs)) return MAX_STARTS_BESIDE_LIGHT;
        givesWay = true;
        return MAX_STARTS_GIVING_WAY;
      }
      pause(tenantId, owedMs);
      return 0;
    },
    began(tenantId, chars) {
      rates.add(tenantId, 1_000 / (perSecondOf(tenantId) ?? Number.POSITIVE_INFINITY), performance.now());
      if (hasOthers()) debts.add(tenantId, pauseAtPaceMs(chars, PACE), performance.now());
      else debts.forget(tenantId);
    },
    soon(tenantId) {
      const perSecond = perSecondOf(tenantId);
      if (perSecond === undefined) return 0;
      const aheadMs = rates.owedMs(tenantId, performance.now()) - BURST_MS;
      return Math.ceil(((SOON_MS - aheadMs) / 1_000) * perSecond);
    },
    failures: createFailurePace({ activeTenants, mayStart }),
    nextTurn: oncePerTurn(
      () => givesWay,
      () => {
        givesWay = false;
        mayStart();
      },
    ),
  };
}

function oncePerTurn(rests: () => boolean, act: () => void): () => void {
  // Not that of others: deliveries of all tenants begin here.
  const giveWay = createPauses()();
  let isScheduled = false;
  const begin = async () => {
    if (rests()) await giveWay();
    isScheduled = false;
    act();
  };
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => void begin());
  };
}
