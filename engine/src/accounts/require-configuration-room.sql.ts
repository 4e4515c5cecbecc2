import type { AccountLimits } from '@headwater/shared';
import { overLimit } from './over-limit.ts';
import type { Sql, Transaction } from '../db/database.ts';
import { lockAccount } from './require-room.sql.ts';

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
