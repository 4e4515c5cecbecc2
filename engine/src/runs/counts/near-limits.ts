import type { AccountLimits, ExceededLimit } from '@headwater/shared';
import type { Queued } from '../commit/queued.ts';

export interface NearLimitsOptions {
  /** Undefined where they are not in memory: nothing is near them then. */
  limitsOf: (accountId: string) => AccountLimits | undefined;
  /**
   * An account came near a limit of what waits, or reached it. Called once for each `percent` until
   * it was far from it again.
   */
  onNearLimit?: (accountId: string, limit: ExceededLimit, percent: number) => Promise<void>;
}

/** Shares of a limit that are told, and from where on it is no more near. */
const NEAR_PERCENTS = [100, 80];
const FAR = 0.6;

const USED = {
  maxQueuedInvocations: ({ invocations }: Queued) => invocations,
  maxQueuedBytes: ({ chars }: Queued) => chars,
  maxQueuedDeliveries: ({ deliveries }: Queued) => deliveries,
  maxPausedDeliveries: ({ held }: Queued) => held,
};

/**
 * Tells, once until it is far from it again, when what waits of an account comes near a limit, and
 * when it has reached it.
 */
export function createNearLimits({
  limitsOf,
  onNearLimit,
}: NearLimitsOptions): (all: ReadonlyMap<string, Queued>) => Promise<void> {
  const told = new Map<string, number>();

  async function look(accountId: string, queued: Queued): Promise<void> {
    const limits = limitsOf(accountId);
    if (limits === undefined || onNearLimit === undefined) return;
    for (const name of Object.keys(USED) as (keyof typeof USED)[]) {
      const limit: ExceededLimit = { name, value: limits[name], used: USED[name](queued) };
      const key = `${accountId} ${name}`;
      if (limit.used < limit.value * FAR) told.delete(key);
      const percent = NEAR_PERCENTS.find((one) => limit.used * 100 >= limit.value * one) ?? 0;
      if (limit.used === 0 || percent <= (told.get(key) ?? 0)) continue;
      told.set(key, percent);
      await onNearLimit(accountId, limit, percent);
    }
  }

  return async (all) => {
    for (const key of told.keys()) if (!all.has(key.slice(0, key.indexOf(' ')))) told.delete(key);
    for (const [accountId, queued] of all) await look(accountId, queued);
  };
}
