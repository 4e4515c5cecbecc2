import { HeadwaterError, LIMITS } from '@headwater/shared';
import type { Sql } from '../db/index.ts';
import { insertConnectedAccount, type NewConnectedAccount } from './connected-accounts.sql.ts';

/** Throws CONFLICT where an account has as many connected accounts as it may have. */
export async function addConnectedAccount(sql: Sql, account: NewConnectedAccount): Promise<void> {
  if (await insertConnectedAccount(sql, account, LIMITS.maxConnectedAccounts)) return;
  const value = LIMITS.maxConnectedAccounts;
  throw new HeadwaterError('CONFLICT', `There are ${value} connected accounts; delete one first`, {
    limit: { name: 'maxConnectedAccounts', value, used: value + 1 },
  });
}
