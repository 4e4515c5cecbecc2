import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from '../db/index.ts';
import { inIndexOrder } from '../events/index.ts';
import { restAfterMs } from '../fairness/index.ts';

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

/** Maximum of one store in one transaction: its writers wait meanwhile. */
const STORE_RECORDS = 1_000;

/**
 * The caller holds the store's row. Answers how many were deleted. `keys`: of these records;
 * default: of some that ended first.
 */
export async function deleteExpiredOfStore(
  tx: Transaction,
  accountId: string,
  storeId: string,
  keys?: readonly string[],
): Promise<number> {
  const [row] = await tx<{ records: number }[]>`
    with gone as (
      delete from data_store_records
      where account_id = ${accountId} and store_id = ${storeId} and expires_at <= now()
        and key = any(${
          keys ??
          tx`
          array(select key from data_store_records where account_id = ${accountId} and store_id = ${storeId}
            and expires_at <= now() order by expires_at limit ${STORE_RECORDS})`
        }::text[])
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

/** Maximum of one call: the caller has other work and calls again. */
const TURN_RECORDS = 4_000;
/** Maximum of one call, unless a single record is larger. */
const TURN_BYTES = 32 * 1024 * 1024;
const TURN_STORES = 20;

interface ExpiredOfStore {
  account_id: string;
  store_id: string;
  keys: string[];
}

/**
 * Deletes some expired records of all accounts. Skips stores that are being written; a later call
 * deletes those.
 */
export async function deleteExpiredRecords(sql: Sql): Promise<void> {
  for (const { account_id: accountId, store_id: storeId, keys } of await readExpired(sql)) {
    await sql.begin(async (tx) => {
      const [store] = await tx`
        select from data_stores where account_id = ${accountId} and id = ${storeId} for no key update skip locked`;
      if (store !== undefined) await deleteExpiredOfStore(tx, accountId, storeId, keys);
    });
  }
}

/**
 * From both ends, and some of these: the oldest may all be of a store that is written without a
 * pause.
 */
async function readExpired(sql: Sql): Promise<ExpiredOfStore[]> {
  const expired = (direction: 'asc' | 'desc') => sql`
    (select account_id, store_id, key, octet_length(value)::int8 as bytes from data_store_records
      where expires_at <= now() order by expires_at ${direction === 'asc' ? sql`asc` : sql`desc`} limit ${TURN_RECORDS / 2})`;
  const rows = await sql<ExpiredOfStore[]>`
    select account_id, store_id, array_agg(key) as keys from (
      select *, row_number() over (partition by store_id order by place) as of_store,
        sum(bytes) over (order by place rows between unbounded preceding and 1 preceding) as bytes_before
      from (select *, random() as place from (${expired('asc')} union ${expired('desc')}) as ends) as placed
    ) as counted
    where of_store <= ${STORE_RECORDS} and coalesce(bytes_before, 0) < ${TURN_BYTES}
    group by account_id, store_id order by min(place) limit ${TURN_STORES}`;
  return [...rows];
}
