import type { AccountLimits } from '@headwater/shared';
import { overLimit } from './over-limit.ts';
import type { Sql, Transaction } from '../db/database.ts';

/** Limits on how many of something an account has. */
export type CountedLimit = 'maxSources' | 'maxWorkflows' | 'maxWebhooks' | 'maxSubscriptions' | 'maxApiKeys';

type Counted = Promise<{ used: number }[]>;

/** Each query uses an index that begins with the account. */
const COUNTS: Record<CountedLimit, (sql: Sql | Transaction, accountId: string) => Counted> = {
  // Includes a source whose deployment has not ended: its rows exist.
  maxSources: (sql, accountId) => sql`
    select count(*) as used from emitters where account_id = ${accountId} and kind = 'source' and deleted_at is null`,
  maxWorkflows: (sql, accountId) => sql`
    select count(*) as used from emitters where account_id = ${accountId} and kind = 'workflow' and deleted_at is null`,
  maxWebhooks: (sql, accountId) => sql`select count(*) as used from webhooks where account_id = ${accountId}`,
  maxSubscriptions: (sql, accountId) => sql`
    select (select count(*) from subscriptions where account_id = ${accountId})
      + (select count(*) from auto_subscriptions where account_id = ${accountId}) as used`,
  maxApiKeys: (sql, accountId) => sql`
    select count(*) as used from api_keys
    where account_id = ${accountId} and revoked_at is null and (expires_at is null or expires_at > now())
      and not of_portal`,
};

/**
 * Makes transactions that count the account's objects wait for each other, so that two cannot pass
 * one limit together. Taken before any other row of the account, which prevents deadlocks. Runs and
 * events never take it.
 */
export async function lockAccount(tx: Transaction, accountId: string): Promise<void> {
  await tx`select from accounts where id = ${accountId} for no key update`;
}

/**
 * Throws CONFLICT, with the limit, where the account has no room for `more`. Locks the account
 * first.
 */
export async function requireRoom<L extends CountedLimit>(
  tx: Transaction,
  accountId: string,
  limits: Pick<AccountLimits, L>,
  name: L,
  more = 1,
): Promise<void> {
  await lockAccount(tx, accountId);
  await checkRoom(tx, accountId, limits, name, more);
}

/**
 * The same without the lock, to refuse early what costs something: by then there may be less room.
 */
export async function checkRoom<L extends CountedLimit>(
  sql: Sql | Transaction,
  accountId: string,
  limits: Pick<AccountLimits, L>,
  name: L,
  more = 1,
): Promise<void> {
  const [row] = await COUNTS[name](sql, accountId);
  const used = (row?.used ?? 0) + more;
  if (used > limits[name]) throw overLimit({ name, value: limits[name], used });
}
