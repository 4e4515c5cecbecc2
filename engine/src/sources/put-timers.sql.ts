import { createPauses } from '@headwater/shared';
import { addJobs, crowdPriority, type Transaction } from '../db/index.ts';
import { nextTickMs, type TimerSchedule } from '../schedule/index.ts';
import type { TimerProp } from '../props/index.ts';
import { timerJob, timerJobKey } from './fire-timers.sql.ts';

/**
 * Sets the timers of a source, with the jobs of their next ticks. A timer with the same schedule
 * keeps its phase; a changed one starts anew from now; others end. Takes a few statements for any
 * number of timers, and writes no unchanged rows. The caller has locked the row of the source or
 * workflow against other changes.
 */
export async function putTimers(
  tx: Transaction,
  accountId: string,
  sourceId: string,
  timers: readonly TimerProp[],
): Promise<void> {
  const wanted = new Map(timers.map(({ name, schedule }) => [name, schedule]));
  const had = await readSchedules(tx, sourceId);
  if ([...had.keys()].some((name) => !wanted.has(name))) await dropTimers(tx, sourceId, [...wanted.keys()]);
  const changed = [...wanted].filter(([name, schedule]) => !isSame(had.get(name), schedule));
  if (changed.length > 0) await startTimers(tx, accountId, sourceId, changed);
}

interface ScheduleRow {
  prop_name: string;
  interval_seconds: number | null;
  cron: string | null;
  timezone: string | null;
}

async function readSchedules(tx: Transaction, sourceId: string): Promise<Map<string, ScheduleRow>> {
  const rows = await tx<ScheduleRow[]>`
    select prop_name, interval_seconds, cron, timezone from timers where source_id = ${sourceId}`;
  return new Map(rows.map((row) => [row.prop_name, row]));
}

function isSame(row: ScheduleRow | undefined, schedule: TimerSchedule): boolean {
  if (row === undefined) return false;
  const { intervalSeconds = null, cron = null, timezone = null } = schedule;
  return row.interval_seconds === intervalSeconds && row.cron === cron && row.timezone === timezone;
}

/** The count of timers stops here. */
const MAX_COUNTED = 10_000;

/**
 * The transaction's time, from which its timers start, and the priority of their first ticks. Of
 * those it is not known how many others are due with them: each is taken for one of as many as the
 * account has timers.
 */
async function readStart(tx: Transaction, accountId: string): Promise<{ nowMs: number; priority: number }> {
  const [row] = await tx<{ now_ms: number; count: number }[]>`
    select extract(epoch from now())::float8 * 1000 as now_ms, (
      select count(*) from (select from timers where account_id = ${accountId} limit ${MAX_COUNTED}) as counted
    ) as count`;
  if (row === undefined) throw new Error('The database does not say what time it is');
  return { nowMs: row.now_ms, priority: crowdPriority(row.count) };
}

type Started = readonly [name: string, schedule: TimerSchedule];

/** In the order in which fireTimers locks them, so that neither waits for the other. */
async function startTimers(
  tx: Transaction,
  accountId: string,
  sourceId: string,
  timers: readonly Started[],
): Promise<void> {
  const { nowMs, priority } = await readStart(tx, accountId);
  const dueMs = await firstTicksMs(timers, nowMs);
  const rows = await tx<{ prop_name: string; generation: number; due_ms: number | null }[]>`
    insert into timers (source_id, prop_name, account_id, interval_seconds, cron, timezone, due_ms)
    select ${sourceId}, put.prop_name, ${accountId}, put.interval_seconds, put.cron, put.timezone, put.due_ms from unnest(
      ${timers.map(([name]) => name)}::text[], ${timers.map(([, { intervalSeconds }]) => intervalSeconds ?? null)}::int4[],
      ${timers.map(([, { cron }]) => cron ?? null)}::text[], ${timers.map(([, { timezone }]) => timezone ?? null)}::text[],
      ${dueMs}::int8[]
    ) as put(prop_name, interval_seconds, cron, timezone, due_ms) order by put.prop_name
    on conflict (source_id, prop_name) do update set interval_seconds = excluded.interval_seconds, cron = excluded.cron,
      timezone = excluded.timezone, due_ms = excluded.due_ms, anchor_at = now(), generation = nextval('timer_generations')
    returning prop_name, generation, due_ms`;
  await addJobs(
    tx,
    rows.flatMap(({ prop_name: propName, generation, due_ms: dueAtMs }) =>
      dueAtMs === null ? [] : [timerJob({ sourceId, propName, generation, dueAtMs }, priority)],
    ),
  );
}

/** Separate pauses: rows stay locked meanwhile, so these must be shorter than the shared ones. */
const createGiveWay = createPauses();

/** The search for the tick of a rare cron takes a while: see LIMITS.maxTimerCrons. */
async function firstTicksMs(timers: readonly Started[], nowMs: number): Promise<(number | null)[]> {
  const giveWay = createGiveWay();
  const found = [];
  for (const [, schedule] of timers) {
    found.push(firstTickMs(schedule, nowMs));
    await giveWay();
  }
  return found;
}

function firstTickMs(schedule: TimerSchedule, nowMs: number): number | null {
  const nextMs = nextTickMs(schedule, nowMs, nowMs);
  return nextMs === undefined ? null : Math.round(nextMs);
}

/**
 * Ends all timers of the source but those of the props in `kept`, with their jobs and the ticks
 * that were not run.
 */
export async function dropTimers(tx: Transaction, sourceId: string, kept: readonly string[] = []): Promise<void> {
  const gone = await tx<{ prop_name: string }[]>`
    delete from timers where source_id = ${sourceId} and prop_name <> all(${kept}::text[]) returning prop_name`;
  if (gone.length === 0) return;
  const names = gone.map((row) => row.prop_name);
  // In the order of addJobs.
  const keys = names.map((name) => timerJobKey(sourceId, name)).toSorted();
  await tx`select graphile_worker.remove_job(key) from unnest(${keys}::text[]) as key`;
  await tx`
    delete from invocations where source_id = ${sourceId} and leased_by is null and timer_prop = any(${names}::text[])`;
}
