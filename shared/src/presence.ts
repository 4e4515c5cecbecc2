import { LIMITS } from './limits.ts';

/** Who has brought something lately. */
export interface Presence {
  saw(tenantId: string, nowMs: number): void;
  /** Whether at least two tenants have, within LIMITS.othersPresentMs. */
  hasSeveral(nowMs: number): boolean;
}

export function createPresence(): Presence {
  let last = '';
  let lastAtMs = Number.NEGATIVE_INFINITY;
  /** When somebody other than `last` was seen. */
  let otherAtMs = Number.NEGATIVE_INFINITY;
  return {
    saw(tenantId, nowMs) {
      if (tenantId !== last) otherAtMs = lastAtMs;
      last = tenantId;
      lastAtMs = nowMs;
    },
    hasSeveral: (nowMs) => nowMs - otherAtMs <= LIMITS.othersPresentMs,
  };
}
