import {
  type AccountLimitName,
  type AccountLimits,
  accountLimits,
  findLimitProblems,
  HeadwaterError,
  notFound,
} from '@headwater/shared';
import { type AccountLimitsRecord, type Accounts, checkCondition, contentTag } from '../contract/index.ts';
import { changeAccountLimits, readAccountHistory, readAccountLimits } from './accounts.sql.ts';
import type { Sql } from '../db/index.ts';
import type { LimitsCache } from './limits-cache.ts';

/** Reads and sets the limits of accounts; see Accounts. */
export function createAccountLimits(sql: Sql, cache: LimitsCache): Pick<Accounts, 'limits' | 'setLimits'> {
  async function recordOf(accountId: string, set: Partial<AccountLimits> | undefined): Promise<AccountLimitsRecord> {
    if (set === undefined) throw notFound('account', accountId);
    const history = await readAccountHistory(sql, accountId);
    return {
      accountId,
      limits: accountLimits(cache.defaults, set),
      defaults: cache.defaults,
      set,
      tag: tagOf(set),
      history,
    };
  }
  return {
    limits: async (accountId) => recordOf(accountId, await readAccountLimits(sql, accountId)),
    async setLimits(accountId, change, condition) {
      const fields = findLimitProblems(change);
      if (fields.length > 0) {
        const list = fields.map(({ path, message }) => `${path} ${message}`).join('; ');
        throw new HeadwaterError('INVALID_REQUEST', `Invalid limits: ${list}`, { fields });
      }
      const checked = change as Partial<Record<AccountLimitName, number | null>>;
      const check = (now: Partial<AccountLimits>) =>
        checkCondition(`limits of account ${accountId}`, tagOf(now), condition);
      const set = await changeAccountLimits(sql, accountId, checked, check);
      // The notification reaches this node too, but later than the answer of this call.
      await cache.refresh(accountId);
      return recordOf(accountId, set);
    },
  };
}

const tagOf = (set: Partial<AccountLimits>) =>
  contentTag(
    ...Object.entries(set)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flat(),
  );
