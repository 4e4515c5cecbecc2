import { type DedupeStrategy, LIMITS } from '@headwater/shared';
import type { AttemptRecord } from '../../contract/index.ts';
import type { Transaction } from '../../db/index.ts';

export interface TraceEventRow {
  emitter_id: string;
  indexed_at_ms: number;
  seq: number;
  invocation_id: string | null;
  caused_by: string | null;
  queued_ms: number | null;
  ran_ms: number | null;
  channel: string;
  emit_id: string | null;
  summary: string | null;
  bytes: number;
}

/**
 * The trace of an execution, a run or an event (its `emit_id`). Undefined if the id is none of
 * these, or the data that led to the trace are gone.
 */
export async function findTraceId(sql: Transaction, accountId: string, id: string): Promise<string | undefined> {
  const ofEvent = await findTraceOfEvent(sql, accountId, id);
  if (ofEvent !== undefined) return ofEvent;
  const [row] = await sql<{ trace_id: string | null; caused_by: string | null }[]>`
    select trace_id, null as caused_by from executions where id = ${id} and account_id = ${accountId}
    union all select coalesce(trace_id, id), null from invocations where id = ${id} and account_id = ${accountId}
    union all select null, caused_by from runs where id = ${id} and account_id = ${accountId} limit 1`;
  if (row?.caused_by === undefined || row.caused_by === null) return row?.trace_id ?? undefined;
  return findTraceOfEvent(sql, accountId, row.caused_by);
}

async function findTraceOfEvent(sql: Transaction, accountId: string, emitId: string): Promise<string | undefined> {
  const event = /^(\w+)-(\d{1,15})-(\d{1,9})$/.exec(emitId);
  if (event === null) return undefined;
  const [row] = await sql<{ trace_id: string | null }[]>`
    select coalesce(trace_id, invocation_id) as trace_id from events
    where emitter_id = ${String(event[1])} and indexed_at_ms = ${Number(event[2])}::int8
      and seq = ${Number(event[3])}::int8 and account_id = ${accountId}`;
  return row?.trace_id ?? undefined;
}

/** In the order in which they were stored. */
export function readTraceEvents(
  sql: Transaction,
  accountId: string,
  traceId: string,
  limit: number,
): Promise<TraceEventRow[]> {
  return sql<TraceEventRow[]>`
    select emitter_id, indexed_at_ms, seq, invocation_id, caused_by, queued_ms, ran_ms, channel, emit_id, summary,
      octet_length(data) as bytes
    from events where coalesce(trace_id, invocation_id) collate "C" = ${traceId} and account_id = ${accountId}
    order by indexed_at_ms, emitter_id, seq limit ${limit}`;
}

export interface TraceStepRow {
  execution_id: string;
  deployment_id: string;
  namespace: string;
  status: string;
  runs: number;
  error: string | null;
  logs: string | null;
  /**
   * JSON text, where `$summary` may be among them. Null as well where those of all steps together
   * are too long.
   */
  exports: string | null;
  /** JSON text; null as well where those of all steps together are too long. */
  props: string | null;
  started_ms: number;
  ended_ms: number;
}

export function readTraceSteps(
  sql: Transaction,
  accountId: string,
  executionIds: readonly string[],
  limit: number,
): Promise<TraceStepRow[]> {
  return sql<TraceStepRow[]>`
    with measured as (
      select *, sum(octet_length(logs)) over so_far as bytes,
        sum(octet_length(props)) over so_far as props_bytes,
        sum(case when has_summary then octet_length(exports) else 0 end) over so_far as summary_bytes
      from execution_steps, lateral (select position('"$summary"' in exports) > 0 as has_summary) as looked
      where execution_id = any(${[...executionIds]}::text[]) and account_id = ${accountId}
      window so_far as (order by execution_id, position)
      order by execution_id, position limit ${limit}
    )
    select execution_id, deployment_id, namespace, status, runs, error,
      case when bytes <= ${LIMITS.maxTraceLogBytes}::int8 then logs end as logs,
      case when has_summary and summary_bytes <= ${LIMITS.maxTraceLogBytes}::int8 then exports end as exports,
      case when props_bytes <= ${LIMITS.maxTraceLogBytes}::int8 then props end as props,
      (extract(epoch from started_at) * 1000)::float8 as started_ms,
      (extract(epoch from ended_at) * 1000)::float8 as ended_ms
    from measured order by execution_id, position`;
}

/**
 * One more than is shown tells that there are more. Requests and responses are left out, because
 * each can have kilobytes.
 */
export function newestAttempts(sql: Transaction) {
  const path = `$[last - ${LIMITS.maxTraceAttempts} to last]`;
  return sql`(
    select coalesce(jsonb_agg(attempt - array['response', 'request_headers', 'response_headers'] order by place), '[]'::jsonb)
    from jsonb_array_elements(jsonb_path_query_array(attempts, ${path}::jsonpath)) with ordinality as newest(attempt, place)
  ) as attempts`;
}

export const emittersOf = (events: readonly TraceEventRow[]): string[] => [
  ...new Set(events.map((row) => row.emitter_id)),
  'dc_*',
  'p_*',
];

export interface TraceMissedRow {
  emitter_id: string;
  ms: number;
  reason: 'paused' | 'too_many_hops' | 'backlog_full' | 'hold_full' | 'filter_too_costly' | 'deduped' | 'more';
  invocation_id: string | null;
  listener_id: string | null;
  channel: string;
  from_seq: number | null;
  to_seq: number | null;
  emit_ids: string;
  /** Null as well in notes of before version 52 of the schema. */
  dedupe: DedupeStrategy | null;
  missed: number;
}

/**
 * Missed events of the trace's own runs, and pauses that were stored in the commits of its events.
 */
export function readTraceMissed(
  sql: Transaction,
  accountId: string,
  traceId: string,
  events: readonly TraceEventRow[],
  limit: number,
): Promise<TraceMissedRow[]> {
  return sql<TraceMissedRow[]>`
    select emitter_id, ms, reason, invocation_id, listener_id, channel, from_seq, to_seq, emit_ids, dedupe,
      missed
    from (
      select * from missed_events where trace_id = ${traceId} and account_id = ${accountId}
      union
      select m.* from (
        select distinct * from unnest(
          ${events.map((row) => row.emitter_id)}::text[], ${events.map((row) => row.indexed_at_ms)}::int8[]
        ) as e(emitter_id, ms)
      ) as e join missed_events m on m.emitter_id = e.emitter_id and m.ms = e.ms
      where m.reason = 'paused' and m.account_id = ${accountId}
    ) as found order by ms, seq limit ${limit}`;
}

export interface TraceHolderRow {
  id: string;
  /** Null: none has begun it. */
  node_id: string | null;
  /** Whether the source or workflow is active. */
  active: boolean;
}

/**
 * Those of `ids` that are queued or run: which node has each, and whether its source or workflow is
 * active.
 */
export function readTraceHolders(
  sql: Transaction,
  accountId: string,
  ids: readonly string[],
): Promise<TraceHolderRow[]> {
  return sql<TraceHolderRow[]>`
    select i.id, i.leased_by as node_id, coalesce(e.active, false) as active
    from invocations i left join emitters e on e.id = i.source_id
    where i.id = any(${[...ids]}::text[]) and i.account_id = ${accountId}`;
}

export interface TraceSubscriptionRow {
  emitter_id: string;
  listener_id: string;
  event_name: string;
  created_ms: number;
  filter: string | null;
  /** Since when it has this filter. */
  filter_ms: number;
}

/** Current subscriptions to the emitters of these events, on any channel. */
export function readTraceSubscriptions(
  sql: Transaction,
  accountId: string,
  events: readonly TraceEventRow[],
): Promise<TraceSubscriptionRow[]> {
  return sql<TraceSubscriptionRow[]>`
    select emitter_id, listener_id, event_name, (extract(epoch from created_at) * 1000)::float8 as created_ms,
      filter, (extract(epoch from coalesce(filter_changed_at, created_at)) * 1000)::float8 as filter_ms
    from subscriptions where account_id = ${accountId} and emitter_id = any(${emittersOf(events)}::text[])
    order by created_at, id limit ${LIMITS.maxTraceSubscriptions}`;
}

/** Data of some events of a trace, as far as all of them together are no longer than `maxBytes`. */
export async function readTraceData(
  sql: Transaction,
  accountId: string,
  events: readonly TraceEventRow[],
  maxBytes: number,
): Promise<{ emitter_id: string; indexed_at_ms: number; seq: number; data: string }[]> {
  let left = maxBytes;
  const read = events.filter(({ bytes }) => {
    const fits = bytes <= left;
    if (fits) left -= bytes;
    return fits;
  });
  if (read.length === 0) return [];
  return sql`
    select e.emitter_id, e.indexed_at_ms, e.seq, e.data
    from unnest(
      ${read.map((row) => row.emitter_id)}::text[], ${read.map((row) => row.indexed_at_ms)}::int8[],
      ${read.map((row) => row.seq)}::int4[]
    ) as r(emitter_id, ms, seq)
    join events e on e.emitter_id = r.emitter_id and e.indexed_at_ms = r.ms and e.seq = r.seq
    where e.account_id = ${accountId}`;
}

export interface TraceSendRow {
  id: string;
  execution_id: string;
  kind: string;
  status: string;
  attempts: AttemptRecord[];
}

export function readTraceSends(
  sql: Transaction,
  accountId: string,
  traceId: string,
  limit: number,
): Promise<TraceSendRow[]> {
  return sql<TraceSendRow[]>`
    select id, execution_id, kind, status, ${newestAttempts(sql)} from sends
    where trace_id = ${traceId} and account_id = ${accountId} order by id limit ${limit}`;
}

/**
 * Names of sources, workflows and webhooks, including deleted ones that still have rows. A webhook
 * without a name gets the beginning of its URL.
 */
export async function readNames(
  sql: Transaction,
  accountId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from emitters where account_id = ${accountId} and id = any(${[...ids]}::text[])
    union all
    select id, coalesce(nullif(name, ''), left(url, ${LIMITS.maxNameChars}::int4)) from webhooks
    where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return new Map(rows.map(({ id, name }) => [id, name]));
}
