import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';
import type { Sql, Transaction } from '../db/index.ts';
import { deleteExpiredOfStore } from './delete-records.sql.ts';

export interface RecordRow {
  key: string;
  /** JSON text. */
  value: string;
  expires_ms: number | null;
  updated_ms: number;
}

/** Throws where the record that there is now, if any, may not be written over. */
export type CheckRecord = (now: RecordRow | undefined) => void;

/**
 * One record; null where the store has none under that key, undefined where there is no such store.
 */
export async function readDataStoreRecord(
  sql: Sql | Transaction,
  accountId: string,
  storeId: string,
  key: string,
): Promise<RecordRow | null | undefined> {
  const [row] = await sql<(RecordRow | { key: null })[]>`
    select r.key, r.value, extract(epoch from r.expires_at)::float8 * 1000 as expires_ms,
      extract(epoch from r.updated_at)::float8 * 1000 as updated_ms
    from data_stores s left join data_store_records r
      on r.store_id = s.id and r.key = ${key} and (r.expires_at is null or r.expires_at > now())
    where s.account_id = ${accountId} and s.id = ${storeId}`;
  if (row === undefined) return undefined;
  return row.key === null ? null : row;
}

/** Without reading the value. Undefined where there is no such store. */
export async function hasDataStoreRecord(
  sql: Sql,
  accountId: string,
  storeId: string,
  key: string,
): Promise<boolean | undefined> {
  const [row] = await sql<{ has: boolean }[]>`
    select exists (
      select from data_store_records r
      where r.store_id = s.id and r.key = ${key} and (r.expires_at is null or r.expires_at > now())
    ) as has
    from data_stores s where s.account_id = ${accountId} and s.id = ${storeId}`;
  return row?.has;
}

export interface RecordsQuery {
  /** Goes on after this key. */
  after?: string;
  /** Only keys that begin with it. */
  prefix?: string;
  maxRecords: number;
  /** Limit for keys, and for values if requested, unless a single record is larger. */
  maxBytes: number;
  withValues: boolean;
}

export interface RecordsPage {
  /** By key, in the order of its bytes. `value` is '' unless values were requested. */
  rows: RecordRow[];
  hasMore: boolean;
}

/**
 * Lists records as they are now. A record written between two pages may or may not be in the
 * second.
 */
export async function listDataStoreRecords(
  sql: Sql,
  accountId: string,
  storeId: string,
  { after = '', prefix = '', maxRecords, maxBytes, withValues }: RecordsQuery,
): Promise<RecordsPage> {
  // One row more than requested tells whether there are more. Values are read only after the rows
  // to show are known.
  const rows = await sql<(RecordRow & { found: number })[]>`
    select key, ${withValues ? sql`value` : sql`''`} as value, found,
      extract(epoch from expires_at)::float8 * 1000 as expires_ms,
      extract(epoch from updated_at)::float8 * 1000 as updated_ms
    from (
      select *, sum(bytes) over (order by key) - bytes as bytes_before, row_number() over (order by key) as place,
        count(*) over () as found
      from (
        select *, octet_length(key) + ${withValues ? sql`octet_length(value)` : sql`0`} as bytes
        from data_store_records
        where account_id = ${accountId} and store_id = ${storeId} and key > ${after} and key like ${likeStart(prefix)}
          and (expires_at is null or expires_at > now())
        order by key limit ${maxRecords + 1}
      ) page
    ) sized
    where place <= ${maxRecords} and (place = 1 or bytes_before + bytes <= ${maxBytes})
    order by key`;
  return { rows, hasMore: rows.length < (rows[0]?.found ?? 0) };
}

/** Records that are there now; stops counting at `max`. */
export async function countDataStoreRecords(
  sql: Sql,
  accountId: string,
  storeId: string,
  prefix: string,
  max: number,
): Promise<number> {
  const [row] = await sql<{ records: number }[]>`
    select count(*) as records from (
      select from data_store_records
      where account_id = ${accountId} and store_id = ${storeId} and key like ${likeStart(prefix)}
        and (expires_at is null or expires_at > now()) limit ${max}
    ) as counted`;
  return row?.records ?? 0;
}

function likeStart(prefix: string): string {
  return `${prefix.replaceAll(/[\\%_]/g, (char) => `\\${char}`)}%`;
}

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
