import type { AccountLimits, ExceededLimit } from '@headwater/shared';
import type { Queued } from '../commit/queued.ts';

export interface NearLimitsOptions {
  /** Undefined where they are not in memory: nothing is near them then. */
  limitsOf: (accountId: string) => AccountLimits | undefined;
  /** An account came near a limit of what waits. Called once until it was far from it again. */
  onNearLimit?: (accountId: string, limit: ExceededLimit) => Promise<void>;
}

/** Shares of a limit: from here on it is near, and from there on no more. */
const NEAR = 0.8;
const FAR = 0.6;

const USED = {
  maxQueuedDeliveries: ({ deliveries }: Queued) => deliveries,
  maxPausedDeliveries: ({ held }: Queued) => held,
};

/**
 * Tells, once until it is far from it again, when what waits for the webhooks of an account comes
 * near a limit.
 */
export function createNearLimits({
  limitsOf,
  onNearLimit,
}: NearLimitsOptions): (all: ReadonlyMap<string, Queued>) => Promise<void> {
  const told = new Set<string>();

  async function look(accountId: string, queued: Queued): Promise<void> {
    const limits = limitsOf(accountId);
    if (limits === undefined || onNearLimit === undefined) return;
    for (const name of ['maxQueuedDeliveries', 'maxPausedDeliveries'] as const) {
      const limit: ExceededLimit = { name, value: limits[name], used: USED[name](queued) };
      const key = `${accountId} ${name}`;
      if (limit.used < limit.value * FAR) told.delete(key);
      if (limit.used < limit.value * NEAR || limit.used === 0 || told.has(key)) continue;
      told.add(key);
      await onNearLimit(accountId, limit);
    }
  }

  return async (all) => {
    for (const key of told) if (!all.has(key.slice(0, key.indexOf(' ')))) told.delete(key);
    for (const [accountId, queued] of all) await look(accountId, queued);
  };
}
