import type postgres from 'postgres';
import { messageId } from '../../engine/src/outbox/transports/webhook/sign.ts';
import type { EventRow, ExecutionRow, FailedRun, ReplayRow, StuckRow } from './records.ts';

export type Sql = postgres.Sql;

const ROWS_AT_ONCE = 5_000;

/** All channels of an emitter but the built-in ones, oldest first. */
export async function readEvents(sql: Sql, emitterId: string): Promise<EventRow[]> {
  const events: EventRow[] = [];
  const rows = sql<{ invocation_id: string | null; ms: number; seq: number; channel: string; data: string }[]>`
    select invocation_id, indexed_at_ms::float8 as ms, seq, channel, data from events
    where emitter_id = ${emitterId} and channel not like '$%' order by indexed_at_ms, seq`;
  await rows.cursor(ROWS_AT_ONCE, (part) => {
    for (const { invocation_id: id, ms, seq, channel, data } of part) {
      // One text for all events of a run: a million of them fit into memory.
      const last = events.at(-1)?.invocationId;
      const invocationId = last === id ? last : id;
      events.push({ messageId: messageId(emitterId, ms, seq), invocationId, indexedAtMs: ms, channel, data });
    }
  });
  return events;
}

export async function readExecutions(sql: Sql): Promise<ExecutionRow[]> {
  const rows = await sql<(Omit<ExecutionRow, 'request'> & { event: string })[]>`
    select id, status, error, event, extract(epoch from ended_at)::float8 * 1000 as "endedAtMs"
    from executions order by id`;
  return rows.map(({ event, ...row }) => ({ ...row, request: requestOf(event) }));
}

/** Those of one emitter. The path of a webhook ends with the name that the receiver knows. */
export async function readReplays(sql: Sql, emitterId: string): Promise<ReplayRow[]> {
  const rows = await sql<(Omit<ReplayRow, 'hook'> & { url: string })[]>`
    select r.id, r.since_ms::float8 as "sinceMs", r.until_ms::float8 as "untilMs", r.status, r.count, r.sent, w.url
    from replays r join webhooks w on w.id = r.listener_id where r.emitter_id = ${emitterId} order by r.id`;
  return rows.map(({ url, ...row }) => ({ ...row, hook: url.slice(url.lastIndexOf('/') + 1) }));
}

function requestOf(event: string): number | null {
  const { body } = JSON.parse(event) as { body?: { request?: number } };
  return body?.request ?? null;
}

export async function readFailedRuns(sql: Sql): Promise<FailedRun[]> {
  return sql<FailedRun[]>`
    select id, source_id as "sourceId", error_code as code, error_message as message
    from runs where error_code is not null order by id`;
}

/**
 * Everything that is accepted and has not ended. Empty once the system is drained. A tick that its
 * stopped timer holds is not stuck: it waits for the start of the timer.
 */
export async function readStuck(sql: Sql): Promise<StuckRow[]> {
  return sql<StuckRow[]>`
    with left_over as (
      select 'invocation' as kind, i.id, i.source_id as owner, i.leased_by, i.created_at
      from invocations i join emitters e on e.id = i.source_id and e.active
      union all
      select 'execution', id, workflow_id, null, started_at from executions where ended_at is null
      union all
      select 'delivery', id, webhook_id, leased_by, created_at from deliveries where status = 'pending'
      union all
      select 'send', id, workflow_id, leased_by, created_at from sends where status = 'pending'
      union all
      select 'replay', id, listener_id, null, created_at from replays where status = 'running'
    )
    select kind, l.id, owner, leased_by as "leasedBy",
      exists (select from nodes n where n.id = l.leased_by and n.seen_at > now() - interval '10 seconds') as "holderIsAlive",
      extract(epoch from clock_timestamp() - created_at)::float8 as "ageSeconds"
    from left_over l order by created_at`;
}

/** Everything that is accepted and has not ended, as `readStuck` has it, and replays under way. */
export async function countLeft(sql: Sql): Promise<number> {
  const [row] = await sql<{ left: number }[]>`
    select ((select count(*) from invocations i join emitters e on e.id = i.source_id and e.active)
      + (select count(*) from executions where ended_at is null)
      + (select count(*) from replays where status = 'running')
      + (select count(*) from deliveries where status = 'pending')
      + (select count(*) from sends where status = 'pending'))::int4 as left`;
  return row?.left ?? 0;
}

/** Grows with everything that ends, also while as much is left as before. */
export async function countDone(sql: Sql): Promise<number> {
  const [row] = await sql<{ done: number }[]>`
    select ((select count(*) from events) + (select count(*) from executions where ended_at is not null)
      + (select sum(sent) from replays) + (select sum(attempt_count) from deliveries))::int8::float8 as done`;
  return row?.done ?? 0;
}

const MAX_ROWS = 500;

/** State to inspect first when work is stuck: the rows that hold it. */
export async function readHolders(sql: Sql): Promise<Record<string, unknown>> {
  return {
    nodes: await sql`select *, extract(epoch from clock_timestamp() - seen_at)::float8 as silent_seconds from nodes`,
    jobs: await sql`select * from graphile_worker.jobs order by run_at limit ${MAX_ROWS}`,
    invocations: await sql`
      select id, source_id, kind, attempts, leased_by, created_at from invocations order by id limit ${MAX_ROWS}`,
    executions: await sql`
      select id, workflow_id, status, started_at from executions where ended_at is null order by id limit ${MAX_ROWS}`,
    deliveries: await sql`
      select id, webhook_id, attempt_count, next_attempt_at, leased_by, created_at from deliveries
      where status = 'pending' order by id limit ${MAX_ROWS}`,
    activity: await sql`
      select pid, application_name, state, wait_event_type, wait_event, xact_start, state_change, left(query, 300) as query,
        pg_blocking_pids(pid) as blocked_by
      from pg_stat_activity where backend_type = 'client backend'`,
  };
}
