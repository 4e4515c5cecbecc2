import { idFloor, LIMITS } from '@headwater/shared';
import type { Sql } from '../../db/index.ts';

/** Age limit for the rows of one source, workflow, webhook or account. */
export interface Expiry {
  id: string;
  /** Older than this, in epoch milliseconds. */
  beforeMs: number;
}

/*
 * Each function deletes at most `limit` rows, the oldest of each source or webhook, and returns the
 * number. It finds them at the low end of keys that grow with time: an index on time would cost
 * every event. Rows that another node is deleting are skipped.
 */

export async function deleteExpiredEvents(sql: Sql, expiries: readonly Expiry[], limit: number): Promise<number> {
  const { ids, beforeMs } = columnsOf(expiries);
  const rows = await sql`
    delete from events e using (
      select old.* from unnest(${ids}::text[], ${beforeMs}::int8[]) as x(id, before_ms) cross join lateral (
        select emitter_id, indexed_at_ms, seq from events where emitter_id = x.id and indexed_at_ms < x.before_ms
        order by indexed_at_ms, seq limit ${limit} for update skip locked
      ) as old limit ${limit}
    ) as old
    where e.emitter_id = old.emitter_id and e.indexed_at_ms = old.indexed_at_ms and e.seq = old.seq`;
  return rows.count;
}

/** Deletes expired rows of `missed_events`. */
export async function deleteExpiredMissed(sql: Sql, expiries: readonly Expiry[], limit: number): Promise<number> {
  const { ids, beforeMs } = columnsOf(expiries);
  const rows = await sql`
    delete from missed_events m using (
      select old.* from unnest(${ids}::text[], ${beforeMs}::int8[]) as x(id, before_ms) cross join lateral (
        select emitter_id, ms, seq from missed_events where emitter_id = x.id and ms < x.before_ms
        order by ms, seq limit ${limit} for update skip locked
      ) as old limit ${limit}
    ) as old
    where m.emitter_id = old.emitter_id and m.ms = old.ms and m.seq = old.seq`;
  return rows.count;
}

/** The records of runs. */
export async function deleteExpiredRuns(sql: Sql, expiries: readonly Expiry[], limit: number): Promise<number> {
  const { ids, beforeMs } = columnsOf(expiries);
  const rows = await sql`
    delete from runs r using (
      select old.id from unnest(
        ${ids}::text[], ${beforeMs}::int8[], ${beforeMs.map((ms) => idFloor('invocation', ms))}::text[]
      ) as x(id, before_ms, before_id) cross join lateral (
        select id from runs
        where ${isOf(sql, 'source_id')} and id < x.before_id and ended_at < to_timestamp(x.before_ms / 1000.0)
        order by source_id, id limit ${limit} for update skip locked
      ) as old limit ${limit}
    ) as old
    where r.id = old.id`;
  return rows.count;
}

/** Lines that were shown while runs went on. */
export async function deleteExpiredLiveLines(sql: Sql, expiries: readonly Expiry[], limit: number): Promise<number> {
  const { ids, beforeMs } = columnsOf(expiries);
  const rows = await sql`
    delete from live_lines l using (
      select old.id from unnest(${ids}::text[], ${beforeMs}::int8[]) as x(id, before_ms) cross join lateral (
        select id from live_lines where emitter_id = x.id and at_ms < x.before_ms
        order by at_ms, seq limit ${limit} for update skip locked
      ) as old limit ${limit}
    ) as old
    where l.id = old.id`;
  return rows.count;
}

/** The records of executions, with their steps. */
export async function deleteExpiredExecutions(sql: Sql, expiries: readonly Expiry[], limit: number): Promise<number> {
  const { ids, beforeMs } = columnsOf(expiries);
  const [row] = await sql<{ executions: number }[]>`
    with gone as (
      delete from executions x using (
        select old.id from unnest(
          ${ids}::text[], ${beforeMs}::int8[], ${beforeMs.map((ms) => idFloor('execution', ms))}::text[]
        ) as x(id, before_ms, before_id) cross join lateral (
          select id from executions
          where ${isOf(sql, 'workflow_id')} and id < x.before_id and ended_at < to_timestamp(x.before_ms / 1000.0)
          order by workflow_id, id limit ${limit} for update skip locked
        ) as old limit ${limit}
      ) as old
      where x.id = old.id returning x.id
    ), steps as (
      delete from execution_steps s using gone where s.execution_id = gone.id
    )
    select count(*) as executions from gone`;
  return row?.executions ?? 0;
}

/** Deletes only sends that are no longer pending. */
export async function deleteExpiredSends(sql: Sql, expiries: readonly Expiry[], limit: number): Promise<number> {
  const { ids, beforeMs } = columnsOf(expiries);
  const rows = await sql`
    delete from sends s using (
      select old.id from unnest(${ids}::text[], ${beforeMs.map((ms) => idFloor('send', ms))}::text[]) as x(id, before_id)
      cross join lateral (
        select id from sends where ${isOf(sql, 'workflow_id')} and id < x.before_id and status <> 'pending'
        order by workflow_id, id limit ${limit} for update skip locked
      ) as old limit ${limit}
    ) as old
    where s.id = old.id`;
  return rows.count;
}

/**
 * Deliveries that have ended; of one that is still retried the event may be gone, and then its next
 * attempt cancels it.
 */
export async function deleteExpiredDeliveries(sql: Sql, expiries: readonly Expiry[], limit: number): Promise<number> {
  const { ids, beforeMs } = columnsOf(expiries);
  const [row] = await sql<{ deliveries: number }[]>`
    with gone as (delete from deliveries d using (
      select old.* from unnest(
        ${ids}::text[], ${beforeMs.map((ms) => idFloor('delivery', ms))}::text[]
      ) as x(id, before_id) cross join lateral (
        select webhook_id, id from deliveries
        where webhook_id = x.id and id < x.before_id and status <> 'pending'
        order by id limit ${limit} for update skip locked
      ) as old limit ${limit}
    ) as old
    where d.webhook_id = old.webhook_id and d.id = old.id returning d.webhook_id, d.id), responses as (
      delete from delivery_responses r using gone where r.webhook_id = gone.webhook_id and r.delivery_id = gone.id
    )
    select count(*)::int4 as deliveries from gone`;
  return row?.deliveries ?? 0;
}

/**
 * Whether a column is `x.id`, as a range: with the order by both columns only an index that begins
 * with it will do. After `=` Postgres takes the primary key where one emitter has most rows, and
 * reads all of them for each of the others.
 */
const isOf = (sql: Sql, column: 'source_id' | 'workflow_id') => sql`${sql(column)} between x.id and x.id`;

function columnsOf(expiries: readonly Expiry[]): { ids: string[]; beforeMs: number[] } {
  return { ids: expiries.map((expiry) => expiry.id), beforeMs: expiries.map((expiry) => expiry.beforeMs) };
}

/**
 * Maximum rows deleted per account and counter step in one call; the next call deletes the rest.
 */
const MAX_ROWS = 10_000;

/**
 * Deletes minute counters past LIMITS.minuteStatsKeptMs, and hour and day counters older than their
 * account's history. `beforeMs` 0: the account keeps hour and day counters for ever.
 */
export async function expireStats(sql: Sql, expiries: readonly Expiry[], nowMs: number): Promise<void> {
  const minutesBeforeMs = nowMs - LIMITS.minuteStatsKeptMs;
  await sql`
    delete from stats where ctid in (
      select old.ctid from unnest(
        ${expiries.map(({ id }) => id)}::text[], ${expiries.map(({ beforeMs }) => beforeMs)}::int8[]
      ) as x(account_id, before_ms)
        cross join lateral (values (60, greatest(${minutesBeforeMs}::int8, x.before_ms)), (3600, x.before_ms - 3600000),
          (86400, x.before_ms - 86400000))
          as kept(step_seconds, from_ms)
        cross join lateral (
          select s.ctid from stats s
          where s.account_id = x.account_id and s.step_seconds = kept.step_seconds and s.began_ms < kept.from_ms
          order by s.began_ms limit ${MAX_ROWS}
        ) as old
    )`;
}

/** By then, work that began before the deletion has ended, and the query sees the rows it left. */
const EMPTY_AFTER = '1 hour';

/**
 * Deletes those of the given deleted emitters to which no event, run, execution, send or stored
 * value refers. Without this, an account could fill the database by making and deleting sources.
 * Their components that were deleted earlier go too. Returns the number of emitters deleted.
 */
export async function deleteEmptiedEmitters(sql: Sql, ids: readonly string[]): Promise<number> {
  const [row] = await sql<{ emitters: number }[]>`
    with gone as (
      delete from emitters e
      where id = any(${[...ids]}::text[]) and deleted_at < now() - ${EMPTY_AFTER}::interval
        and not exists (select from events x where x.emitter_id = e.id)
        and not exists (select from missed_events x where x.emitter_id = e.id)
        and not exists (select from runs x where x.source_id = e.id)
        and not exists (select from live_lines x where x.emitter_id = e.id)
        and not exists (select from invocations x where x.leased_by is null and x.source_id = e.id)
        and not exists (select from nodes n join invocations x on x.leased_by = n.id and x.source_id = e.id)
        and not exists (select from executions x where x.workflow_id = e.id)
        and not exists (select from execution_waits x where x.workflow_id = e.id)
        and not exists (select from sends x where x.workflow_id = e.id)
        and not exists (select from component_db x where x.source_id = e.id)
      returning id, component_id
    ), left_code as (
      -- What the deletion above takes away is still there for this statement.
      delete from components c using (select distinct component_id from gone) as of_gone
      where c.id = of_gone.component_id and c.deleted_at is not null
        and not exists (select from emitters e where e.component_id = c.id and e.id not in (select id from gone))
    )
    select count(*) as emitters from gone`;
  return row?.emitters ?? 0;
}
