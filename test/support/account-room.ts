import type { AccountLimits } from '../../shared/src/index.ts';
import { type AccountRoom, createAccountRoom } from '../../engine/src/accounts/account-room.ts';
import { createLimitsCache } from '../../engine/src/accounts/limits-cache.ts';

/** Room of one node, with the same limits for all accounts. */
export function roomWith(limits: Partial<AccountLimits> = {}): AccountRoom {
  return createAccountRoom(createLimitsCache({ read: async () => limits }));
}
