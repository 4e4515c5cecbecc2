import { type ExceededLimit, ID_PREFIXES, LIMITS } from '@headwater/shared';
import type { Transaction } from '../../db/index.ts';
import { lookInIndexOrder } from '../../events/index.ts';
import type { TraceEventRow } from './read-trace.sql.ts';
import { momentsOf } from './trace-moments.ts';

export interface TraceRunRow {
  id: string;
  source_id: string;
  kind: string;
  caused_by: string | null;
  status: 'ok' | 'error' | 'queued' | 'running';
  error_code: string | null;
  error_message: string | null;
  error_stack: string | null;
  error_limit: ExceededLimit | null;
  /** Null where the lines of all runs together are too many. */
  logs: string | null;
  started_ms: number | null;
  ended_ms: number | null;
}

/** Runs of sources, the first one and those that the events started; ended or not. */
export async function readTraceRuns(
  snapshot: Transaction,
  accountId: string,
  ids: readonly string[],
  events: readonly TraceEventRow[],
  limit: number,
): Promise<TraceRunRow[]> {
  return lookInIndexOrder(snapshot, async (tx) => {
    const started = { accountId, kind: 'invocation', events, limit } as const;
    const ended = [...ids, ...(await readStarted(tx, 'runs', started))];
    const open = [...ids, ...(await readStarted(tx, 'invocations', started))];
    return tx<TraceRunRow[]>`
      with found as (
        select id, source_id, kind, caused_by, status, error_code, error_message, error_stack, error_limit, logs,
          (extract(epoch from started_at) * 1000)::float8 as started_ms,
          (extract(epoch from ended_at) * 1000)::float8 as ended_ms
        from runs where id = any(${ended}::text[]) and account_id = ${accountId}
        union all
        select id, source_id, kind, caused_by, case when leased_by is null then 'queued' else 'running' end, null, null, null,
          null, '[]', null, null
        from invocations
        where id = any(${open}::text[]) and account_id = ${accountId} and starts_with(source_id, ${ID_PREFIXES.source})
      ), measured as (
        select *, sum(octet_length(logs)) over (order by id) as bytes from found order by id limit ${limit}
      )
      select id, source_id, kind, caused_by, status, error_code, error_message, error_stack, error_limit, started_ms, ended_ms,
        case when bytes <= ${LIMITS.maxTraceLogBytes}::int8 then logs end as logs
      from measured order by id`;
  });
}

/**
 * Executions of the trace: those that have a row of their own, and those that are queued or run.
 */
export async function readTraceExecutionIds(
  sql: Transaction,
  accountId: string,
  traceId: string,
  events: readonly TraceEventRow[],
  limit: number,
): Promise<string[]> {
  const started = await lookInIndexOrder(sql, (tx) =>
    readStarted(tx, 'invocations', { accountId, kind: 'execution', events, limit }),
  );
  const rows = await sql<{ id: string }[]>`
    select id from executions where trace_id = ${traceId} and account_id = ${accountId}
    union
    select id from invocations
    where id = ${traceId} and account_id = ${accountId} and starts_with(source_id, ${ID_PREFIXES.workflow})
    union
    select id from unnest(${started}::text[]) as s(id)
    order by id limit ${limit}`;
  return rows.map((row) => row.id);
}

interface Started {
  accountId: string;
  kind: 'invocation' | 'execution';
  events: readonly TraceEventRow[];
  limit: number;
}

/**
 * Ids of the runs or invocations that the events started. Only the milliseconds in their ids lead
 * to them. The inner limit keeps Postgres from making this one join, which would read the rows of
 * all accounts.
 */
async function readStarted(
  tx: Transaction,
  table: 'runs' | 'invocations',
  { accountId, kind, events, limit }: Started,
): Promise<string[]> {
  const { emitIds, floors, ends } = momentsOf(events, kind);
  const rows = await tx<{ id: string }[]>`
    select started.id from unnest(${floors}::text[], ${ends}::text[]) as moment(floor, ending) cross join lateral (
      select id from ${tx(table)}
      where id >= moment.floor and id < moment.ending and caused_by = any(${emitIds}::text[]) and account_id = ${accountId}
      order by id limit ${limit}
    ) as started
    order by started.id limit ${limit}`;
  return rows.map(({ id }) => id);
}
