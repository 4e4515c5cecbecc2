import type { AccountLimits } from '../../shared/src/index.ts';
import { type AccountRoom, createAccountRoom } from '../../engine/src/accounts/account-room.ts';
import { createLimitsCache } from '../../engine/src/accounts/limits-cache.ts';

/** That of one node, where the same is set for all accounts. */
export function roomWith(limits: Partial<AccountLimits> = {}): AccountRoom {
  return createAccountRoom(createLimitsCache({ read: async () => limits }));
}
