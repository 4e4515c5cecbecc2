import { LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from './database.ts';

/** The caller holds the store's row. Answers how many were deleted. */
export async function deleteExpiredOfStore(tx: Transaction, accountId: string, storeId: string): Promise<number> {
  const [row] = await tx<{ records: number }[]>`
    with gone as (
      delete from data_store_records
      where account_id = ${accountId} and store_id = ${storeId} and expires_at <= now()
      returning octet_length(key) + octet_length(value) + ${LIMITS.dbEntryOverheadBytes}::int as bytes
    ),
    sums as (select count(*) as records, coalesce(sum(bytes), 0)::int8 as bytes from gone),
    counted as (
      update data_stores s set record_count = s.record_count - sums.records, bytes = s.bytes - sums.bytes
      from sums where s.account_id = ${accountId} and s.id = ${storeId}
    )
    select records from sums`;
  return row?.records ?? 0;
}

/** So many stores at once at most: whoever calls this calls it again. */
const STORES_AT_ONCE = 20;

/** Deletes records whose time is over, of all accounts, a few stores at a time. */
export async function deleteExpiredRecords(sql: Sql): Promise<void> {
  const stores = await sql<{ account_id: string; store_id: string }[]>`
    select distinct account_id, store_id from (
      select account_id, store_id from data_store_records where expires_at <= now() order by expires_at limit 1000
    ) r limit ${STORES_AT_ONCE}`;
  for (const { account_id: accountId, store_id: storeId } of stores) {
    await sql.begin(async (tx) => {
      await tx`select from data_stores where account_id = ${accountId} and id = ${storeId} for no key update`;
      await deleteExpiredOfStore(tx, accountId, storeId);
    });
  }
}
