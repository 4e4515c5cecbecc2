import type { Sql, Transaction } from '../db/database.ts';

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
