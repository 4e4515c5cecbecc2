import { createTenantTurns, type AccountLimits } from '@headwater/shared';
import type { LimitsCache } from './limits-cache.ts';

/** Where objects of accounts are made that are counted for a limit. */
export interface AccountRoom {
  /** The limits that hold for the account now. */
  limits: Pick<LimitsCache, 'get'>['get'];
  /**
   * Does `work`, a transaction that counts and inserts (requireRoom), when the account's earlier ones on this node have ended.
   * They wait for each other in the database anyway, and there each would hold a connection that other accounts need. Never
   * one within another.
   */
  make<T>(accountId: string, work: (limits: AccountLimits) => Promise<T>): Promise<T>;
}

export function createAccountRoom(limits: Pick<LimitsCache, 'get'>): AccountRoom {
  const turns = createTenantTurns(1);
  return {
    limits: (accountId) => limits.get(accountId),
    async make(accountId, work) {
      // What waits has been validated, and ends soon: nothing calls it off.
      const end = await turns.take(accountId, new AbortController().signal);
      try {
        return await work(await limits.get(accountId));
      } finally {
        end?.();
      }
    },
  };
}
