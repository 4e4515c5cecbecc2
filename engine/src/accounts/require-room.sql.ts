import type { AccountLimits } from '@headwater/shared';
import type { Sql, Transaction } from '../db/index.ts';
import { overLimit } from './over-limit.ts';

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

/**
 * Bytes counted for each row besides its values, indexes included. It also bounds how many rows the
 * sum below reads.
 */
const ROW_BYTES = 1024;

/**
 * The size of a value that is to be stored: as JSON, as configuration_bytes counts it but for
 * spaces.
 */
export function jsonBytes(...values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + Buffer.byteLength(JSON.stringify(value)), 0);
}

/**
 * Throws CONFLICT, with the limit, if one more row of `bytes` would exceed maxConfigurationBytes.
 * Counts the props of the account's sources and the versions of its workflows. Locks the account
 * first.
 */
export async function requireConfigurationRoom(
  tx: Transaction,
  accountId: string,
  limits: Pick<AccountLimits, 'maxConfigurationBytes'>,
  bytes: number,
): Promise<void> {
  await lockAccount(tx, accountId);
  await checkConfigurationRoom(tx, accountId, limits, bytes + ROW_BYTES);
}

/** The same without the lock, for a row that is there and grows by `bytes`. */
export async function checkConfigurationRoom(
  sql: Sql | Transaction,
  accountId: string,
  { maxConfigurationBytes: value }: Pick<AccountLimits, 'maxConfigurationBytes'>,
  bytes: number,
): Promise<void> {
  // `configuration_bytes` is stored in each row: pg_column_size would give the compressed size, and
  // a length would read the whole value.
  const [row] = await sql<{ used: number }[]>`
    select (
      select coalesce(sum(configuration_bytes + ${ROW_BYTES}::int4), 0)
      from emitters where account_id = ${accountId} and kind = 'source' and deleted_at is null
    )::int8 + (
      select coalesce(sum(configuration_bytes + ${ROW_BYTES}::int4), 0)
      from deployments where account_id = ${accountId}
    )::int8 as used`;
  const used = (row?.used ?? 0) + bytes;
  if (used > value) throw overLimit({ name: 'maxConfigurationBytes', value, used });
}
