import { crowdPriority } from '../jobs/job-crowds.ts';
import type { TimerSchedule } from '../schedule/next-tick.ts';
import { nextTickMs } from '../schedule/next-tick.ts';
import { addJobs } from './add-jobs.ts';
import type { Transaction } from './database.ts';
import { timerJob, timerJobKey } from './fire-timers.ts';

export interface TimerProp {
  name: string;
  schedule: TimerSchedule;
}

/**
 * Sets the timers of a source, with the jobs of their next ticks. One whose schedule stays the same keeps its phase; a
 * changed one starts anew from now. Others end.
 */
export async function putTimers(
  tx: Transaction,
  accountId: string,
  sourceId: string,
  timers: readonly TimerProp[],
): Promise<void> {
  const names = timers.map((timer) => timer.name);
  await dropTimers(tx, sourceId, names);
  if (timers.length === 0) return;
  const priority = await firstPriority(tx, accountId);
  for (const timer of timers) await putTimer(tx, accountId, sourceId, timer, priority);
}

/** So many are counted. */
const MAX_COUNTED = 10_000;

/** Of a first tick it is not known how many others are due with it: it is taken for one of as many as the account has timers. */
async function firstPriority(tx: Transaction, accountId: string): Promise<number> {
  const [timers] = await tx<{ count: number }[]>`
    select count(*) as count from (select from timers where account_id = ${accountId} limit ${MAX_COUNTED}) as counted`;
  return crowdPriority(timers?.count ?? 0);
}

/** Ends all timers of the source but those of the props in `kept`, with their jobs and the ticks that were not run. */
export async function dropTimers(tx: Transaction, sourceId: string, kept: readonly string[] = []): Promise<void> {
  const gone = await tx<{ prop_name: string }[]>`
    delete from timers where source_id = ${sourceId} and prop_name <> all(${kept}::text[]) returning prop_name`;
  if (gone.length === 0) return;
  const names = gone.map((row) => row.prop_name);
  const keys = names.map((name) => timerJobKey(sourceId, name));
  await tx`select graphile_worker.remove_job(key) from unnest(${keys}::text[]) as key`;
  await tx`
    delete from invocations where source_id = ${sourceId} and leased_by is null and timer_prop = any(${names}::text[])`;
}

async function putTimer(
  tx: Transaction,
  accountId: string,
  sourceId: string,
  { name, schedule }: TimerProp,
  priority: number,
): Promise<void> {
  const { intervalSeconds = null, cron = null, timezone = null } = schedule;
  const rows = await tx<{ generation: number; anchor_ms: number }[]>`
    insert into timers as t (source_id, prop_name, account_id, interval_seconds, cron, timezone)
    values (${sourceId}, ${name}, ${accountId}, ${intervalSeconds}, ${cron}, ${timezone})
    on conflict (source_id, prop_name) do update set interval_seconds = excluded.interval_seconds,
      cron = excluded.cron, timezone = excluded.timezone, anchor_at = now(), generation = nextval('timer_generations')
    where (t.interval_seconds, t.cron, t.timezone) is distinct from
      (excluded.interval_seconds, excluded.cron, excluded.timezone)
    returning generation, extract(epoch from anchor_at)::float8 * 1000 as anchor_ms`;
  const [row] = rows;
  if (row === undefined) return;
  const nextMs = nextTickMs(schedule, row.anchor_ms, row.anchor_ms);
  const dueAtMs = nextMs === undefined ? null : Math.round(nextMs);
  await tx`update timers set due_ms = ${dueAtMs} where source_id = ${sourceId} and prop_name = ${name}`;
  if (dueAtMs === null) return;
  await addJobs(tx, [timerJob({ sourceId, propName: name, generation: row.generation, dueAtMs }, priority)]);
}
