import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from '../db/database.ts';
import { deleteExpiredOfStore } from './delete-expired-records.sql.ts';
import { type CheckRecord, readDataStoreRecord, type RecordRow } from './read-data-store-records.sql.ts';

export interface NewRecord {
  key: string;
  /** JSON text. */
  value: string;
  /** Without it the record stays, also where the one before had an end. */
  ttlSeconds?: number;
}

/** As they are stored. */
type RecordTimes = Pick<RecordRow, 'expires_ms' | 'updated_ms'>;

export type SetRecordOutcome =
  | { kind: 'set'; times: RecordTimes }
  | { kind: 'absent' }
  | { kind: 'full'; limit: ExceededLimit };

export type DataStoreLimits = Pick<AccountLimits, 'maxDataStoreRecords' | 'maxDataStoreBytes'>;

/**
 * Puts a record in place, whole or not at all. Writers of one store follow each other, so its size
 * is exact, and nothing comes between `check` and the write. What makes a store smaller is taken
 * also where it is over a limit that was lowered.
 */
export async function setDataStoreRecord(
  sql: Sql,
  accountId: string,
  storeId: string,
  record: NewRecord,
  limits: DataStoreLimits,
  check?: CheckRecord,
): Promise<SetRecordOutcome> {
  return sql.begin(async (tx): Promise<SetRecordOutcome> => {
    const [store] = await tx`
      select from data_stores where account_id = ${accountId} and id = ${storeId} for no key update`;
    if (store === undefined) return { kind: 'absent' };
    if (check !== undefined) check((await readDataStoreRecord(tx, accountId, storeId, record.key)) ?? undefined);
    for (;;) {
      const put = await putIfItFits(tx, accountId, storeId, record, limits);
      if ('times' in put) return { kind: 'set', times: put.times };
      // As many as it takes: a store may have millions of them, and its writers wait.
      if ((await deleteExpiredOfStore(tx, accountId, storeId)) === 0) return { kind: 'full', limit: put.limit };
    }
  });
}

interface Size extends RecordTimes {
  fits: boolean;
  is_new: boolean;
  records: number;
  bytes: number;
}

/**
 * The caller holds the store's row lock, so no write comes between this statement's read and its
 * change.
 */
async function putIfItFits(
  tx: Transaction,
  accountId: string,
  storeId: string,
  { key, value, ttlSeconds }: NewRecord,
  { maxDataStoreRecords, maxDataStoreBytes }: DataStoreLimits,
): Promise<{ times: RecordTimes } | { limit: ExceededLimit }> {
  const bytes = Buffer.byteLength(key) + Buffer.byteLength(value) + LIMITS.dbEntryOverheadBytes;
  const [size] = await tx<Size[]>`
    with sized as (
      select r.key is null as is_new, s.record_count + (r.key is null)::int as records, s.bytes as bytes_before,
        s.bytes + ${bytes}
          - coalesce(octet_length(r.key) + octet_length(r.value) + ${LIMITS.dbEntryOverheadBytes}, 0) as bytes
      from data_stores s left join data_store_records r on r.store_id = s.id and r.key = ${key}
      where s.account_id = ${accountId} and s.id = ${storeId}
    ),
    judged as (
      select *, (not is_new or records <= ${maxDataStoreRecords})
        and (bytes <= ${maxDataStoreBytes} or bytes <= bytes_before) as fits
      from sized
    ),
    put as (
      insert into data_store_records as r (store_id, key, account_id, value, expires_at)
      select ${storeId}, ${key}, ${accountId}, ${value}, now() + make_interval(secs => ${ttlSeconds ?? null}::float8)
      from judged where fits
      on conflict (store_id, key) do update
        set value = excluded.value, expires_at = excluded.expires_at, updated_at = now()
      returning extract(epoch from r.expires_at)::float8 * 1000 as expires_ms,
        extract(epoch from r.updated_at)::float8 * 1000 as updated_ms
    ),
    counted as (
      update data_stores s set record_count = judged.records, bytes = judged.bytes, updated_at = now()
      from judged where s.account_id = ${accountId} and s.id = ${storeId} and fits
    )
    select fits, is_new, records, bytes, expires_ms, updated_ms from judged left join put on true`;
  if (size === undefined) throw new Error(`Data store ${storeId} is not there, and its row is held`);
  const { fits, is_new: isNew, records, bytes: used, expires_ms, updated_ms } = size;
  if (fits) return { times: { expires_ms, updated_ms } };
  return isNew && records > maxDataStoreRecords
    ? { limit: { name: 'maxDataStoreRecords', value: maxDataStoreRecords, used: records } }
    : { limit: { name: 'maxDataStoreBytes', value: maxDataStoreBytes, used } };
}
