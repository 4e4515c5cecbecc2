import { LIMITS } from '@headwater/shared';
import type { AbandonedRunChoice, AbandonedRunRecord } from '../contract/index.ts';
import { cutJson, isCut, shown, type Sql } from '../db/index.ts';
import { addRunLanes } from './invocations.sql.ts';

interface Row {
  id: string;
  source_id: string;
  kind: string;
  caused_by: string | null;
  trace_id: string | null;
  event: string;
  event_is_cut: boolean;
  error_message: string;
  abandoned_ms: number;
}

/**
 * Those of `ids` that are the account's, in no order. Events are cut beyond
 * LIMITS.summaryEventBytes.
 */
export async function readAbandonedRuns(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<AbandonedRunRecord[]> {
  const rows = await sql<Row[]>`
    select id, source_id, kind, caused_by, trace_id, error_message,
      extract(epoch from abandoned_at)::float8 * 1000 as abandoned_ms,
      ${cutJson(sql, sql`event`, LIMITS.summaryEventBytes)} as event,
      ${isCut(sql, sql`event`, LIMITS.summaryEventBytes)} as event_is_cut
    from abandoned_runs where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return rows.map((row) => ({
    id: row.id,
    sourceId: row.source_id,
    kind: row.kind,
    ...(row.caused_by === null ? {} : { causedBy: row.caused_by }),
    traceId: row.trace_id ?? row.id,
    event: shown(row.event, row.event_is_cut),
    message: row.error_message,
    abandonedAt: new Date(row.abandoned_ms),
  }));
}

/**
 * Deletes abandoned runs that are too old, and of each account the oldest beyond how many and how
 * much it may have. At most `limit`; answers how many. Reads the whole table, which is small: for
 * once in a while.
 */
export async function trimAbandonedRuns(sql: Sql, limit: number): Promise<number> {
  const rows = await sql`
    delete from abandoned_runs a using (
      select id from (
        select id, abandoned_at, row_number() over newest as place,
          sum(octet_length(event)::int8) over newest - octet_length(event) as bytes_before
        from abandoned_runs window newest as (partition by account_id order by id desc)
      ) as kept
      where place > ${LIMITS.maxAbandonedRuns} or bytes_before > ${LIMITS.maxAbandonedRunBytes}::int8
        or abandoned_at < now() - make_interval(days => ${LIMITS.abandonedRunDays})
      limit ${limit}
    ) as old
    where a.id = old.id`;
  return rows.count;
}

export interface AbandonedRunSize {
  id: string;
  /** Characters of its event. */
  chars: number;
}

/** Narrows abandoned runs to those that are chosen. */
export function chosenRuns(sql: Sql, { sourceId, since, until }: AbandonedRunChoice) {
  return sql`
    ${sourceId === undefined ? sql`` : sql`and source_id = ${sourceId}`}
    ${since === undefined ? sql`` : sql`and abandoned_at >= ${since.toISOString()}::timestamptz`}
    ${until === undefined ? sql`` : sql`and abandoned_at < ${until.toISOString()}::timestamptz`}`;
}

/** The next ones that are chosen after an id, oldest first; or the one with an id. */
export async function readAbandonedRunSizes(
  sql: Sql,
  accountId: string,
  choice: AbandonedRunChoice & { id?: string; after: string; limit: number },
): Promise<AbandonedRunSize[]> {
  return sql<AbandonedRunSize[]>`
    select id, length(event) as chars from abandoned_runs
    where account_id = ${accountId} and id > ${choice.after} ${choice.id === undefined ? sql`` : sql`and id = ${choice.id}`}
      ${chosenRuns(sql, choice)}
    order by id limit ${choice.limit}`;
}

/**
 * Makes invocations of abandoned runs again, whole and with their ids, without crashes; their
 * records of having been abandoned go, as runs have one. Answers how many: what another retry has
 * taken already is none of them.
 */
export async function retryRuns(sql: Sql, accountId: string, ids: readonly string[]): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<{ source_id: string }[]>`
      with taken as (
        delete from abandoned_runs where account_id = ${accountId} and id = any(${[...ids]}::text[]) returning *
      ), told as (
        delete from runs r using taken t where r.id = t.id and r.account_id = ${accountId}
      )
      insert into invocations
        (id, account_id, source_id, kind, http_prop, timer_prop, caused_by, trace_id, hops, claim, event)
      select id, account_id, source_id, kind, http_prop, timer_prop, caused_by, trace_id, hops, claim, event from taken
      returning source_id`;
    await addRunLanes(
      tx,
      rows.map((row) => row.source_id),
    );
    return rows.length;
  });
}

/** Whether the run is under way, or waits to be. */
export async function isInvocation(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`select from invocations where id = ${id} and account_id = ${accountId}`;
  return rows.length > 0;
}
