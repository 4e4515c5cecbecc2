import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import { restAfterMs } from '../fairness/rest-after.ts';
import type { Sql } from '../db/database.ts';
import { inIndexOrder } from '../events/read-events.sql.ts';
import { type CheckRecord, readDataStoreRecord } from './read-data-store-records.sql.ts';

/** Whether there was one; `absent` where there is no such store. */
export async function deleteDataStoreRecord(
  sql: Sql,
  accountId: string,
  storeId: string,
  key: string,
  check?: CheckRecord,
): Promise<'deleted' | 'none' | 'absent'> {
  return sql.begin(async (tx) => {
    const [store] = await tx`
      select from data_stores where account_id = ${accountId} and id = ${storeId} for no key update`;
    if (store === undefined) return 'absent';
    if (check !== undefined) check((await readDataStoreRecord(tx, accountId, storeId, key)) ?? undefined);
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

/**
 * Maximum that one transaction deletes, but at least one record. Writers of the store wait for a
 * fraction of a second.
 */
export const STORE_SLICE = { records: 1_000, bytes: 16 * 1024 * 1024 };

interface Emptying {
  accountId: string;
  storeId: string;
  /**
   * The last key. What comes behind it meanwhile is not meant, and could be more than is deleted.
   */
  last: string | null;
}

/**
 * Empties a store; false if it does not exist. Works in short transactions with pauses: one for
 * millions of records would block writers, and keep a backend busy, for minutes. Records set
 * meanwhile may stay or go. If it ends early, deleted records stay deleted, and another call
 * continues.
 */
export async function clearDataStore(sql: Sql, accountId: string, storeId: string): Promise<boolean> {
  const [store] = await sql<{ last: string | null }[]>`
    select (select max(key) from data_store_records where store_id = s.id) as last
    from data_stores s where account_id = ${accountId} and id = ${storeId}`;
  if (store === undefined) return false;
  for (let after: string | null = store.last === null ? null : ''; after !== null; ) {
    const begunMs = performance.now();
    after = await deleteSlice(sql, { accountId, storeId, last: store.last }, after);
    if (after !== null) await sleep(restAfterMs(performance.now() - begunMs));
  }
  return true;
}

/** By key. Answers the last one where there may be more behind it. */
async function deleteSlice(sql: Sql, { accountId, storeId, last }: Emptying, after: string): Promise<string | null> {
  return inIndexOrder(sql, async (tx) => {
    // Locks the store as its writers do: no writer may change records between this statement and
    // the next.
    await tx`select from data_stores where account_id = ${accountId} and id = ${storeId} for no key update`;
    const ofStore = tx`account_id = ${accountId} and store_id = ${storeId} and key > ${after}`;
    const [row] = await tx<{ through: string | null }[]>`
      with next as (
        select key, octet_length(key) + octet_length(value) + ${LIMITS.dbEntryOverheadBytes}::int as bytes from data_store_records
        where ${ofStore} and key <= ${last} order by key limit ${STORE_SLICE.records}
      ), sized as (
        select *, sum(bytes) over (order by key) - bytes as bytes_before from next
      ), slice as (
        select max(key) as through, count(*) as records, sum(bytes)::int8 as bytes from sized
        where bytes_before < ${STORE_SLICE.bytes}::int8
      ), gone as (
        delete from data_store_records where ${ofStore} and key <= (select through from slice)
      ), counted as (
        update data_stores s set record_count = s.record_count - slice.records, bytes = s.bytes - slice.bytes, updated_at = now()
        from slice where s.account_id = ${accountId} and s.id = ${storeId} and slice.records > 0
      )
      select through from slice`;
    return row?.through === last ? null : (row?.through ?? null);
  });
}
