import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from './database.ts';
import { deleteExpiredOfStore } from './delete-expired-records.ts';

export interface NewRecord {
  key: string;
  /** JSON text. */
  value: string;
  /** Without it the record stays, also where the one before had an end. */
  ttlSeconds?: number;
}

export type SetRecordOutcome = { kind: 'set' } | { kind: 'absent' } | { kind: 'full'; limit: ExceededLimit };

export type DataStoreLimits = Pick<AccountLimits, 'maxDataStoreRecords' | 'maxDataStoreBytes'>;

/**
 * Puts a record in place, whole or not at all. Writers of one store follow each other, so its size is exact. What makes a
 * store smaller is taken also where it is over a limit that was lowered.
 */
export async function setDataStoreRecord(
  sql: Sql,
  accountId: string,
  storeId: string,
  record: NewRecord,
  limits: DataStoreLimits,
): Promise<SetRecordOutcome> {
  return sql.begin(async (tx): Promise<SetRecordOutcome> => {
    const [store] = await tx`
      select from data_stores where account_id = ${accountId} and id = ${storeId} for no key update`;
    if (store === undefined) return { kind: 'absent' };
    for (;;) {
      const limit = await putIfItFits(tx, accountId, storeId, record, limits);
      if (limit === undefined) return { kind: 'set' };
      // As many as it takes: a store may have millions of them, and its writers wait.
      if ((await deleteExpiredOfStore(tx, accountId, storeId)) === 0) return { kind: 'full', limit };
    }
  });
}

interface Size {
  fits: boolean;
  is_new: boolean;
  records: number;
  bytes: number;
}

/** The caller holds the store's row, so what this statement sees is what it changes. */
async function putIfItFits(
  tx: Transaction,
  accountId: string,
  storeId: string,
  { key, value, ttlSeconds }: NewRecord,
  { maxDataStoreRecords, maxDataStoreBytes }: DataStoreLimits,
): Promise<ExceededLimit | undefined> {
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
    ),
    counted as (
      update data_stores s set record_count = judged.records, bytes = judged.bytes, updated_at = now()
      from judged where s.account_id = ${accountId} and s.id = ${storeId} and fits
    )
    select fits, is_new, records, bytes from judged`;
  if (size === undefined || size.fits) return undefined;
  return size.is_new && size.records > maxDataStoreRecords
    ? { name: 'maxDataStoreRecords', value: maxDataStoreRecords, used: size.records }
    : { name: 'maxDataStoreBytes', value: maxDataStoreBytes, used: size.bytes };
}
