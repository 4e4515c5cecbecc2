import { notFound } from '@headwater/shared';
import type { Accounts, AccountSettings } from '../contract/engine.ts';
import type { Sql } from '../db/database.ts';
import { changeAccountSettings, readAccountSettings } from './accounts.sql.ts';
import type { LimitsCache } from './limits-cache.ts';

/** Settings that an account decides for itself; see Accounts. */
export function createAccountSettings(
  sql: Sql,
  cache: Pick<LimitsCache, 'refresh'>,
): Pick<Accounts, 'settings' | 'changeSettings'> {
  async function read(accountId: string): Promise<AccountSettings> {
    const found = await readAccountSettings(sql, accountId);
    if (found === undefined) throw notFound('account', accountId);
    return found;
  }
  return {
    settings: (who) => read(who.accountId),
    async changeSettings({ accountId }, change) {
      await changeAccountSettings(sql, accountId, change);
      // The notification reaches this node too, but later than the answer of this call.
      await cache.refresh(accountId);
      return read(accountId);
    },
  };
}
