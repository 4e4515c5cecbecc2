import { LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import type { LoggedRun, LogPlace } from '../../runs/index.ts';
import { isWorkflow } from '../../events/index.ts';
import type { Sql } from '../../db/index.ts';

/**
 * The oldest from this place on, itself included, or after it; or the newest before one, or of all.
 */
export type LogSlice = { from: LogPlace } | { after: LogPlace } | { before: LogPlace | undefined };

type Fragment = postgres.PendingQuery<postgres.Row[]>;

interface Row {
  id: string;
  major: number;
  minor: string;
  ended_ms: number;
  error_code: string | null;
  error_message: string | null;
  error_stack: string | null;
  logs: string;
  live_lines: number;
  /** Null: the record of a run, not a part of one that was shown before its end. */
  first_line: number | null;
  found: number;
}

interface ExecutionRow {
  through_major: number;
  through_minor: string;
  seen: number;
  /** Null where none of those that were looked at has anything to show. */
  id: string | null;
  major: number;
  ended_ms: number;
  error: string | null;
  /** Lines of a part that was shown before the end; null: the execution has ended. */
  logs: string | null;
  namespace: string | null;
  first_line: number;
  found: number;
}

export interface LoggedRuns {
  runs: LoggedRun[];
  /** The last run examined. Absent: none. */
  through: LogPlace | undefined;
  /** There are more behind it. */
  isFull: boolean;
}

const RUNS_AT_ONCE = 100;
/** Most executions of a workflow say nothing. */
const EXECUTIONS_AT_ONCE = 500;

/**
 * Runs of a source, or executions of a workflow, that logged or failed, in the order of the slice.
 * Their lines have no more bytes than one turn of a stream takes, but at least those of one run.
 */
export async function readLoggedRuns(
  sql: Sql,
  accountId: string,
  emitterId: string,
  slice: LogSlice,
): Promise<LoggedRuns> {
  return isWorkflow(emitterId)
    ? readExecutions(sql, accountId, emitterId, slice)
    : readRuns(sql, accountId, emitterId, slice);
}

async function readRuns(sql: Sql, accountId: string, sourceId: string, slice: LogSlice): Promise<LoggedRuns> {
  const place = ({ major, minor }: LogPlace) => sql`(${major}::int8, ${Number(minor)}::int4)`;
  const order = !('before' in slice) ? sql`recorded_ms, recorded_seq` : sql`recorded_ms desc, recorded_seq desc`;
  const partOrder = !('before' in slice) ? sql`at_ms, seq` : sql`at_ms desc, seq desc`;
  const rows = await sql<Row[]>`
    with slice as (
      select *, octet_length(logs) as bytes from (
        (select id, recorded_ms, recorded_seq, logs, live_lines, null::int4 as first_line, error_code, error_message,
          error_stack, (extract(epoch from ended_at) * 1000)::float8 as ended_ms from runs
        where account_id = ${accountId} and source_id = ${sourceId} and recorded_ms is not null
          ${within(sql, sql`(recorded_ms, recorded_seq)`, slice, place)}
        order by ${order} limit ${RUNS_AT_ONCE + 1})
        union all
        (select run_id, at_ms, seq, logs, 0, first_line, null, null, null, at_ms from live_lines
        where account_id = ${accountId} and emitter_id = ${sourceId} and seq is not null
          ${within(sql, sql`(at_ms, seq)`, slice, place)}
        order by ${partOrder} limit ${RUNS_AT_ONCE + 1})
      ) as found order by ${order} limit ${RUNS_AT_ONCE + 1}
    ), measured as (
      select *, count(*) over () as found, sum(bytes) over (order by ${order}) - bytes as bytes_before from slice
    )
    select id, recorded_ms as major, recorded_seq::text as minor, logs, live_lines, first_line, error_code, error_message,
      error_stack, found, ended_ms
    from measured where bytes_before < ${LIMITS.streamBatchBytes}::int8 order by ${order} limit ${RUNS_AT_ONCE}`;
  const runs = rows.map(
    (row): LoggedRun => ({
      id: row.id,
      place: row,
      endedAtMs: row.ended_ms,
      ...(row.first_line === null ? {} : { firstLine: row.first_line }),
      logs: [{ text: row.logs, shown: row.live_lines }],
      ...(row.error_code === null
        ? {}
        : { error: { code: row.error_code, message: row.error_message ?? '', stack: row.error_stack } }),
    }),
  );
  return { runs, through: runs.at(-1)?.place, isFull: rows.length < (rows[0]?.found ?? 0) };
}

/**
 * Those that have ended in a transaction before which none is under way any more: none can appear
 * among them later.
 */
async function readExecutions(sql: Sql, accountId: string, workflowId: string, slice: LogSlice): Promise<LoggedRuns> {
  const rows = await readLoudExecutions(sql, accountId, workflowId, slice);
  const loud = rows.flatMap((row) => (row.id === null ? [] : [{ ...row, id: row.id }]));
  const ended = loud.filter((row) => row.logs === null);
  const steps = await sql<{ execution_id: string; namespace: string; logs: string; live_lines: number }[]>`
    select execution_id, namespace, logs, live_lines from execution_steps
    where execution_id = any(${ended.map(({ id }) => id)}::text[]) and account_id = ${accountId} and logs <> '[]'
    order by execution_id, position`;
  const byExecution = Map.groupBy(steps, (step) => step.execution_id);
  const runs = loud.map((row): LoggedRun => {
    const { logs: text, namespace, first_line: firstLine } = row;
    const logs =
      text === null
        ? (byExecution.get(row.id) ?? []).map((step) => ({ ...step, text: step.logs, shown: step.live_lines }))
        : [{ ...(namespace === null ? {} : { namespace }), text }];
    const error = row.error === null ? {} : { error: JSON.parse(row.error) as NonNullable<LoggedRun['error']> };
    return {
      id: row.id,
      place: { major: row.major, minor: row.id },
      endedAtMs: row.ended_ms,
      firstLine,
      logs,
      ...error,
    };
  });
  const [first] = rows;
  if (first === undefined) return { runs, through: undefined, isFull: false };
  const isCut = loud.length < first.found;
  const through = isCut ? runs.at(-1)?.place : { major: first.through_major, minor: first.through_minor };
  return { runs, through, isFull: isCut || first.seen === EXECUTIONS_AT_ONCE };
}

function readLoudExecutions(sql: Sql, accountId: string, workflowId: string, slice: LogSlice) {
  const place = ({ major, minor }: LogPlace) => sql`(${String(major)}::xid8, ${minor}::text)`;
  const order = !('before' in slice) ? sql`ended_in, id` : sql`ended_in desc, id desc`;
  const back = !('before' in slice) ? sql`ended_in desc, id desc` : sql`ended_in, id`;
  const visible = (column: Fragment) => sql`${column} < pg_snapshot_xmin(pg_current_snapshot())`;
  const partOrder = !('before' in slice) ? sql`written_in, run_id` : sql`written_in desc, run_id desc`;
  return sql<ExecutionRow[]>`
    with slice as (
      select * from (
        (select id, ended_in, error, (extract(epoch from ended_at) * 1000)::float8 as ended_ms, null as logs,
          null as namespace, 0 as first_line from executions
        where account_id = ${accountId} and workflow_id = ${workflowId} and ended_at is not null
          and status = any(${ENDED}::text[]) and ${visible(sql`ended_in`)}
          ${within(sql, sql`(ended_in, id)`, slice, place)}
        order by ${order} limit ${EXECUTIONS_AT_ONCE})
        union all
        (select run_id, written_in, null, at_ms, logs, namespace, first_line from live_lines
        where account_id = ${accountId} and emitter_id = ${workflowId} and seq is null and ${visible(sql`written_in`)}
          ${within(sql, sql`(written_in, run_id)`, slice, place)}
        order by ${partOrder} limit ${EXECUTIONS_AT_ONCE})
      ) as found order by ${order} limit ${EXECUTIONS_AT_ONCE}
    ), lines as (
      select s.execution_id, sum(octet_length(s.logs)) as bytes
      from slice join execution_steps s on s.execution_id = slice.id and slice.logs is null
      where s.logs <> '[]' group by s.execution_id
    ), loud as (
      select slice.*, coalesce(bytes, octet_length(slice.logs), 0) as bytes
      from slice left join lines on lines.execution_id = slice.id and slice.logs is null
      where bytes is not null or error is not null or slice.logs is not null
    ), measured as (
      select *, count(*) over () as found, sum(bytes) over (order by ${order}) - bytes as bytes_before from loud
    ), shown as (
      select * from measured where bytes_before < ${LIMITS.streamBatchBytes}::int8 order by ${order} limit ${RUNS_AT_ONCE}
    )
    select e.through_major, e.through_minor, e.seen, shown.id, shown.ended_in::text::int8 as major, shown.error,
      shown.logs, shown.namespace, coalesce(shown.first_line, 0) as first_line, coalesce(shown.found, 0) as found,
      shown.ended_ms
    from (
      select ended_in::text::int8 as through_major, id as through_minor, (select count(*) from slice) as seen from slice
      order by ${back} limit 1
    ) as e left join shown on true
    order by ${order}`;
}

const ENDED = ['succeeded', 'failed', 'exited', 'cancelled'];

function within(sql: Sql, key: Fragment, slice: LogSlice, place: (at: LogPlace) => Fragment): Fragment {
  if ('from' in slice) return sql`and ${key} >= ${place(slice.from)}`;
  if ('after' in slice) return sql`and ${key} > ${place(slice.after)}`;
  return slice.before === undefined ? sql`` : sql`and ${key} < ${place(slice.before)}`;
}
