import { HeadwaterError, LIMITS } from '@headwater/shared';
import type { Sql } from '../store/database.ts';
import { countConnectedAccounts } from '../store/read-connected-accounts.ts';

/** Throws CONFLICT where an account has as many connected accounts as it may have. */
export async function checkRoom(sql: Sql, accountId: string): Promise<void> {
  if ((await countConnectedAccounts(sql, accountId)) < LIMITS.maxConnectedAccounts) return;
  throw new HeadwaterError('CONFLICT', `There are ${LIMITS.maxConnectedAccounts} connected accounts; delete one first`);
}
