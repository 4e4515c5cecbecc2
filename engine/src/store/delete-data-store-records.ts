import { LIMITS } from '@headwater/shared';
import type { Sql } from './database.ts';

/** Whether there was one; `absent` where there is no such store. */
export async function deleteDataStoreRecord(
  sql: Sql,
  accountId: string,
  storeId: string,
  key: string,
): Promise<'deleted' | 'none' | 'absent'> {
  return sql.begin(async (tx) => {
    const [store] = await tx`
      select from data_stores where account_id = ${accountId} and id = ${storeId} for no key update`;
    if (store === undefined) return 'absent';
    const [row] = await tx<{ is_live: boolean }[]>`
      with gone as (
        delete from data_store_records where account_id = ${accountId} and store_id = ${storeId} and key = ${key}
        returning octet_length(key) + octet_length(value) + ${LIMITS.dbEntryOverheadBytes}::int as bytes,
          (expires_at is null or expires_at > now()) as is_live
      ),
      counted as (
        update data_stores s set record_count = s.record_count - 1, bytes = s.bytes - gone.bytes, updated_at = now()
        from gone where s.account_id = ${accountId} and s.id = ${storeId}
      )
      select is_live from gone`;
    return row?.is_live === true ? 'deleted' : 'none';
  });
}

/** Empties a store; false where there is none. */
export async function clearDataStore(sql: Sql, accountId: string, storeId: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      update data_stores set record_count = 0, bytes = 0, updated_at = now()
      where account_id = ${accountId} and id = ${storeId} returning id`;
    await tx`delete from data_store_records where account_id = ${accountId} and store_id = ${storeId}`;
    return rows.length > 0;
  });
}
