import { type ExceededLimit, LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import type { Page, PageRequest, RunRecord } from '../contract/index.ts';
import { readStoredLines } from '../events/index.ts';
import { inPageOrder, readPage, type Sql } from '../db/index.ts';

interface Row {
  id: string;
  kind: string;
  caused_by: string | null;
  status: 'ok' | 'error';
  error_code: string | null;
  error_message: string | null;
  error_stack: string | null;
  error_limit: ExceededLimit | null;
  /** Null where the lines of the newer runs are enough. */
  logs: string | null;
  started_ms: number;
  ended_ms: number;
  emitted: number | null;
  deduped: number | null;
}

/**
 * A source's newest runs that logged or failed, newest first. Each may have logged megabytes: the
 * newest one has its lines, those behind it as long as there are not too many.
 */
export async function readRuns(sql: Sql, accountId: string, sourceId: string, limit: number): Promise<RunRecord[]> {
  const newestFirst = sql`recorded_ms desc, recorded_seq desc`;
  const slice = sql`
    select * from runs where account_id = ${accountId} and source_id = ${sourceId} and recorded_ms is not null
    order by ${newestFirst} limit ${limit}`;
  return readSlice(sql, slice, newestFirst);
}

/**
 * One page of these and of the quiet ones, newest first by their ids. The condition is that of the
 * index runs_listed.
 */
export async function pageRuns(
  sql: Sql,
  accountId: string,
  sourceId: string,
  page: PageRequest,
): Promise<Page<RunRecord>> {
  const where = sql`
    and source_id = ${sourceId}
    and (recorded_ms is not null or emitted = 0 or (emitted is null and caused_by is null))`;
  const maxCounted = LIMITS.maxCountedEvents;
  const { ids, ...rest } = await readPage(sql, { table: 'runs', accountId, where, order: 'id', maxCounted }, page);
  const slice = sql`select * from runs where id = any(${ids}::text[]) and account_id = ${accountId}`;
  return { ...rest, items: inPageOrder(ids, await readSlice(sql, slice, sql`id desc`)) };
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

async function readSlice(sql: Sql, slice: Fragment, newestFirst: Fragment): Promise<RunRecord[]> {
  const rows = await sql<Row[]>`
    with slice as (${slice}), measured as (
      select *, sum(octet_length(logs)) over (order by ${newestFirst}) as bytes, row_number() over (order by ${newestFirst}) as place
      from slice
    )
    select id, kind, caused_by, status, error_code, error_message, error_stack, error_limit, emitted, deduped,
      case when place = 1 or logs = '[]' or bytes <= ${LIMITS.maxShownLogBytes}::int8 then logs end as logs,
      (extract(epoch from started_at) * 1000)::float8 as started_ms, (extract(epoch from ended_at) * 1000)::float8 as ended_ms
    from measured order by ${newestFirst}`;
  return rows.map(recordOf);
}

function recordOf(row: Row): RunRecord {
  return {
    id: row.id,
    kind: row.kind,
    ...(row.caused_by === null ? {} : { causedBy: row.caused_by }),
    status: row.status,
    ...(row.error_code === null ? {} : { error: errorOf(row) }),
    ...(row.logs === null ? { logs: [], logsAreCut: true as const } : { logs: readStoredLines(row.logs) }),
    ...(row.emitted === null ? {} : { emitted: row.emitted }),
    ...(row.deduped === null ? {} : { deduped: row.deduped }),
    startedAt: new Date(row.started_ms),
    endedAt: new Date(row.ended_ms),
  };
}

function errorOf(row: Row): NonNullable<RunRecord['error']> {
  const { error_code: code, error_message: message, error_stack: stack, error_limit: limit } = row;
  return {
    code: code ?? '',
    message: message ?? '',
    ...(stack === null ? {} : { stack }),
    ...(limit === null ? {} : { limit }),
  };
}
