import { createLimiter, type AccountLimits } from '@headwater/shared';
import { restAfterMs } from '../fairness/index.ts';
import type { LimitsCache } from './limits-cache.ts';

/** A transaction up to this long needs no pause after it. */
const SHORT_MS = 4;

/**
 * Runs an account's transactions that check a counted limit and insert, one at a time on this node.
 */
export interface AccountRoom {
  /** The limits that hold for the account now. */
  limits: Pick<LimitsCache, 'get'>['get'];
  /**
   * Runs `work` once the account's earlier work on this node has ended, with a pause after long
   * work. `work` is one transaction, or one read of objects that may be large. Transactions that
   * count and insert (requireRoom) wait for each other in the database anyway. There, each would
   * hold a connection that other accounts need. Calls must not nest.
   */
  make<T>(accountId: string, work: (limits: AccountLimits) => Promise<T>): Promise<T>;
}

export function createAccountRoom(limits: Pick<LimitsCache, 'get'>): AccountRoom {
  const turns = createLimiter(1);
  return {
    limits: (accountId) => limits.get(accountId),
    async make(accountId, work) {
      // Not cancelled: waiting work is already validated and ends soon.
      const end = await turns.take(accountId, new AbortController().signal);
      const begunMs = performance.now();
      try {
        return await work(await limits.get(accountId));
      } finally {
        const tookMs = performance.now() - begunMs;
        // Hundreds of requests of one account would follow each other without a pause.
        if (tookMs > SHORT_MS && turns.countWaiting(accountId) > 0) setTimeout(() => end?.(), restAfterMs(tookMs));
        else end?.();
      }
    },
  };
}
