import { HeadwaterError, notFound } from '@headwater/shared';
import type { Accounts, AccountSummary } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { changeAccount, readAccounts, suspendAccount } from './accounts.sql.ts';
import { beginAccountDeletion } from './delete-account.sql.ts';
import type { LimitsCache } from './limits-cache.ts';
import { validateAccountChange } from './validate-account.ts';

/** The acts of an operator on one account; see Accounts. */
export function createTenants(
  sql: Sql,
  limits: Pick<LimitsCache, 'get' | 'refresh' | 'isSuspended'>,
  forgetKeys: (accountId: string) => void,
): Pick<Accounts, 'get' | 'update' | 'suspend' | 'delete' | 'requireActive'> {
  async function read(accountId: string): Promise<AccountSummary> {
    const [account] = accountId.includes('\0') ? [] : await readAccounts(sql, [accountId]);
    if (account === undefined) throw notFound('account', accountId);
    return account;
  }
  return {
    get: read,
    async update(accountId, change) {
      validateAccountChange(change);
      const { name, ...rest } = change;
      const trimmed = name === undefined ? rest : { ...rest, name: name.trim() };
      if (!accountId.includes('\0')) await changeAccount(sql, accountId, trimmed);
      return read(accountId);
    },
    async suspend(accountId, isSuspended) {
      if (!accountId.includes('\0')) await suspendAccount(sql, accountId, isSuspended);
      const account = await read(accountId);
      if (account.deletedAt !== undefined)
        throw new HeadwaterError('CONFLICT', `The account ${accountId} is being deleted`);
      // The notification reaches this node too, but later than the answer of this call.
      await limits.get(accountId);
      await limits.refresh(accountId);
      return account;
    },
    async delete(accountId) {
      const deletion = accountId.includes('\0') ? undefined : await beginAccountDeletion(sql, accountId);
      if (deletion === undefined) throw notFound('account', accountId);
      await limits.get(accountId);
      await limits.refresh(accountId);
      forgetKeys(accountId);
      return deletion;
    },
    async requireActive(accountId) {
      await limits.get(accountId);
      if (!limits.isSuspended(accountId)) return;
      throw new HeadwaterError(
        'ACCOUNT_SUSPENDED',
        'The operator has suspended this account: it can be read, not changed',
      );
    },
  };
}
