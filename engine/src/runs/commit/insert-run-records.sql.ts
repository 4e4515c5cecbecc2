import { rowsOf, type Sql } from '../../db/index.ts';
import { type EventPosition, isWorkflow, NO_LINES } from '../../events/index.ts';
import type { CommitPlan, EmittedCounts, RunCommit, RunRow } from './commit-plan.ts';
import type { MissedRow } from './missed.ts';

interface Recorded {
  run: RunCommit;
  record: RunRow;
  at: EventPosition | undefined;
  counts: EmittedCounts;
}

/**
 * Records of runs that logged or failed. Two other kinds of run get a row outside the list of
 * records. A run that an event started gets one, so that a trace shows who got the event. A run
 * without stored events gets one, because otherwise only its id would lead to it.
 */
export function insertRunRecords(connection: Sql, plan: CommitPlan) {
  const rows = recordsOf(plan);
  return rows.length === 0 ? undefined : insertRows(connection, rows);
}

export function recordsOf({ runs }: CommitPlan): Recorded[] {
  return [...runs].flatMap(([run, { record, recordedAt, isQuiet, counts }]) => {
    const row = run.execution === undefined ? (record ?? bareRecord(run, isQuiet)) : undefined;
    return row === undefined ? [] : [{ run, record: row, at: recordedAt, counts }];
  });
}

/** Executions of workflows have rows of their own. */
export function bareRecord({ final, invocation, sourceId, ran }: RunCommit, isQuiet: boolean): RunRow | undefined {
  if (!final || ran === undefined || invocation === undefined || isWorkflow(sourceId)) return undefined;
  if (!isQuiet && invocation.cause === undefined) return undefined;
  const { id, kind = 'event' } = invocation;
  return { id, kind, logs: NO_LINES, startedAtMs: ran.fromMs, endedAtMs: ran.toMs };
}

function insertRows(connection: Sql, rows: readonly Recorded[]) {
  return connection`
    insert into runs (id, account_id, source_id, kind, caused_by, status, error_code, error_message, error_stack,
      error_limit, logs, live_lines, started_at, ended_at, recorded_ms, recorded_seq,
      emitted, deduped)
    select id, account_id, source_id, kind, caused_by, case when code is null then 'ok' else 'error' end, code, message, stack,
      error_limit::jsonb, logs, live_lines, to_timestamp(started / 1000.0), to_timestamp(ended / 1000.0), recorded_ms, recorded_seq,
      emitted, deduped
    from ${rowsOf(connection, [
      ['text', rows.map(({ record }) => record.id)],
      ['text', rows.map(({ run }) => run.accountId)],
      ['text', rows.map(({ run }) => run.sourceId)],
      ['text', rows.map(({ record }) => record.kind)],
      ['text', rows.map(({ run }) => run.invocation?.cause?.event ?? null)],
      ['text', rows.map(({ record }) => record.errorCode ?? null)],
      ['text', rows.map(({ record }) => record.errorMessage ?? null)],
      ['text', rows.map(({ record }) => record.errorStack ?? null)],
      ['text', rows.map(({ record }) => (record.errorLimit === undefined ? null : JSON.stringify(record.errorLimit)))],
      ['float8', rows.map(({ record }) => record.startedAtMs)],
      ['float8', rows.map(({ record }) => record.endedAtMs)],
      ['int8', rows.map(({ at }) => at?.ms ?? null)],
      ['int4', rows.map(({ at }) => at?.seq ?? null)],
      ['int4', rows.map(({ record }) => record.liveLines ?? 0)],
      ['int4', rows.map(({ counts }) => counts.emitted)],
      ['int4', rows.map(({ counts }) => counts.deduped)],
      ['long', rows.map(({ record }) => record.logs)],
    ])} as r(id, account_id, source_id, kind, caused_by, code, message, stack, error_limit, started, ended, recorded_ms, recorded_seq,
      live_lines, emitted, deduped, logs)`;
}

/** The invocations that these commits give up, whole. */
export function insertAbandonedRuns(connection: Sql, { runs }: CommitPlan) {
  const rows = [...runs.keys()].flatMap(({ abandoned, record }) =>
    abandoned === undefined ? [] : [{ ...abandoned, message: record?.errorMessage ?? '' }],
  );
  if (rows.length === 0) return undefined;
  const propOf = (isTimer: boolean) =>
    rows.map(({ kind, propName }) => ((kind === 'timer') === isTimer ? (propName ?? null) : null));
  return connection`
    insert into abandoned_runs
      (id, account_id, source_id, kind, http_prop, timer_prop, caused_by, trace_id, hops, error_message, claim, event)
    select * from ${rowsOf(connection, [
      ['text', rows.map(({ id }) => id)],
      ['text', rows.map(({ accountId }) => accountId)],
      ['text', rows.map(({ sourceId }) => sourceId)],
      ['text', rows.map(({ kind }) => kind)],
      ['text', propOf(false)],
      ['text', propOf(true)],
      ['text', rows.map(({ cause }) => cause?.event ?? null)],
      ['text', rows.map(({ cause }) => cause?.traceId ?? null)],
      ['int4', rows.map(({ cause }) => cause?.hops ?? 0)],
      ['text', rows.map(({ message }) => message)],
      ['int4', rows.map(({ claim }) => claim)],
      ['long', rows.map(({ event }) => event)],
    ])} as r(id, account_id, source_id, kind, http_prop, timer_prop, caused_by, trace_id, hops, error_message, claim, event)`;
}

export function insertMissed(connection: Sql, rows: readonly MissedRow[]) {
  if (rows.length === 0) return undefined;
  return connection`
    insert into missed_events (emitter_id, ms, seq, account_id, reason, invocation_id, trace_id, listener_id, channel,
      from_seq, to_seq, emit_ids, dedupe, missed)
    select emitter_id, ms, seq, account_id, reason, invocation_id, trace_id, listener_id, channel, from_seq, to_seq,
      emit_ids, dedupe, missed
    from unnest(
      ${rows.map((row) => row.emitterId)}::text[], ${rows.map((row) => row.position.ms)}::int8[],
      ${rows.map((row) => row.position.seq)}::int4[], ${rows.map((row) => row.accountId)}::text[],
      ${rows.map((row) => row.reason)}::text[], ${rows.map((row) => row.invocationId)}::text[],
      ${rows.map((row) => row.traceId)}::text[], ${rows.map((row) => row.listenerId)}::text[],
      ${rows.map((row) => row.channel)}::text[], ${rows.map((row) => row.fromSeq)}::int4[],
      ${rows.map((row) => row.toSeq)}::int4[], ${rows.map((row) => JSON.stringify(row.emitIds))}::text[],
      ${rows.map((row) => row.dedupe)}::text[],
      ${rows.map((row) => row.count)}::int4[]
    ) as m(emitter_id, ms, seq, account_id, reason, invocation_id, trace_id, listener_id, channel, from_seq, to_seq,
      emit_ids, dedupe, missed)`;
}
