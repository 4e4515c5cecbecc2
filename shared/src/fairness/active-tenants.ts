import { LIMITS } from '../limits/platform-limits.ts';

/** Tracks how much each tenant has brought recently. */
export interface ActiveTenants {
  /**
   * `brought`: how many requests, runs or attempts, of which each is to be counted once; default 1.
   */
  saw(tenantId: string, nowMs: number, brought?: number): void;
  /** Whether at least two tenants have, within LIMITS.othersPresentMs. */
  hasSeveral(nowMs: number): boolean;
  /** Whether another tenant is active and light. */
  hasLightOther(tenantId: string, nowMs: number): boolean;
  /**
   * Whether the tenant's work must wait: the tenant is heavy, and a light tenant is active. Heavy
   * tenants only take turns with each other. If they also paused for each other, all of them
   * together would get less than one alone.
   */
  mustGiveWay(tenantId: string, nowMs: number): boolean;
}

interface Tenant {
  /**
   * Requests, runs or attempts that the tenant brought. LIMITS.lightPerSecond of them are forgotten
   * each second.
   */
  level: number;
  seenAtMs: number;
}

/**
 * A busy tenant is busy for some tenths of a second more, so that a stall does not make it light.
 */
const MAX_LEVEL = LIMITS.lightPerSecond / 2;
/** Looked for not more often than this. */
const LIGHT_FOR_MS = 5;

export function createActiveTenants(): ActiveTenants {
  // Ordered by last use, so the tenant that was seen last comes last.
  const tenants = new Map<string, Tenant>();
  /** Up to two light tenants. */
  let light: { ids: string[]; untilMs: number } = { ids: [], untilMs: Number.NEGATIVE_INFINITY };

  function levelOf({ level, seenAtMs }: Tenant, nowMs: number): number {
    return Math.max(0, level - ((nowMs - seenAtMs) / 1_000) * LIMITS.lightPerSecond);
  }

  const isBusy = (tenant: Tenant, nowMs: number) => levelOf(tenant, nowMs) > LIMITS.lightBurst;

  function forgetGone(nowMs: number): void {
    for (const [id, { seenAtMs }] of tenants) {
      if (nowMs - seenAtMs <= LIMITS.othersPresentMs) return;
      tenants.delete(id);
    }
  }

  function hasLightOther(tenantId: string, nowMs: number): boolean {
    if (nowMs >= light.untilMs) {
      forgetGone(nowMs);
      const ids = tenants.entries().filter(([, tenant]) => !isBusy(tenant, nowMs));
      light = { ids: [...ids.map(([id]) => id).take(2)], untilMs: nowMs + LIGHT_FOR_MS };
    }
    return light.ids.some((id) => id !== tenantId);
  }

  return {
    saw(tenantId, nowMs, brought = 1) {
      const known = tenants.get(tenantId);
      if (known === undefined) {
        forgetGone(nowMs);
        light.untilMs = Number.NEGATIVE_INFINITY;
      }
      const level = Math.min(MAX_LEVEL, (known === undefined ? 0 : levelOf(known, nowMs)) + brought);
      tenants.delete(tenantId);
      tenants.set(tenantId, { level, seenAtMs: nowMs });
    },
    hasSeveral(nowMs) {
      forgetGone(nowMs);
      return tenants.size > 1;
    },
    mustGiveWay(tenantId, nowMs) {
      const tenant = tenants.get(tenantId);
      return tenant !== undefined && isBusy(tenant, nowMs) && hasLightOther(tenantId, nowMs);
    },
    hasLightOther,
  };
}
