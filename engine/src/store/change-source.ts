import type { TimerSchedule } from '../schedule/next-tick.ts';
import { nextTickMs } from '../schedule/next-tick.ts';
import { TASKS } from '../jobs/tasks.ts';
import { addJobs } from './add-jobs.ts';
import { type HttpProp, putEndpoints } from './create-source.ts';
import type { Sql, Transaction } from './database.ts';
import { addRunLanes } from './insert-invocations.ts';
import { notifySourceChanged } from './notify-changed.ts';

/**
 * Takes the lease of a lifecycle change: hooks of one source never overlap, on whichever node they run. It ends by itself
 * when its node dies.
 */
export async function beginSourceChange(
  sql: Sql,
  accountId: string,
  id: string,
  seconds: number,
): Promise<'taken' | 'busy' | 'absent'> {
  const rows = await sql<{ taken: boolean }[]>`
    with taken as (
      update sources set busy_until = now() + make_interval(secs => ${seconds})
      where account_id = ${accountId} and id = ${id} and deleted_at is null and deployed_at is not null
        and (busy_until is null or busy_until < now())
      returning id
    )
    select exists (select 1 from taken) as taken from sources
    where account_id = ${accountId} and id = ${id} and deleted_at is null and deployed_at is not null`;
  const [row] = rows;
  if (row === undefined) return 'absent';
  return row.taken ? 'taken' : 'busy';
}

export interface SourceChange {
  componentId: string;
  configuredProps: Record<string, unknown>;
  name: string;
  nameSlug: string;
  active: boolean;
  httpProps: readonly HttpProp[];
}

/** Puts new code, props or state in place; the revision makes every node use them for the next run. */
export async function putSourceChange(sql: Sql, accountId: string, id: string, change: SourceChange): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      update sources set component_id = ${change.componentId}, name = ${change.name}, name_slug = ${change.nameSlug},
        configured_props = ${JSON.stringify(change.configuredProps)}::text::jsonb, active = ${change.active},
        revision = revision + 1, updated_at = now()
      where account_id = ${accountId} and id = ${id}`;
    await putEndpoints(tx, accountId, id, change.httpProps);
    await notifySourceChanged(tx, id);
  });
}

export interface TimerProp {
  name: string;
  schedule: TimerSchedule;
}

/**
 * Ends a deployment or change: the source is visible, its timers are set (none where it is inactive), what waited for
 * it is run.
 */
export async function endSourceChange(
  sql: Sql,
  accountId: string,
  id: string,
  { httpProps, timers }: { httpProps: readonly HttpProp[]; timers: readonly TimerProp[] },
): Promise<void> {
  await sql.begin(async (tx) => {
    const rows = await tx<{ active: boolean }[]>`
      update sources set busy_until = null, deployed_at = coalesce(deployed_at, now())
      where account_id = ${accountId} and id = ${id} returning active`;
    const active = rows[0]?.active === true;
    await putEndpoints(tx, accountId, id, httpProps);
    await putTimers(tx, accountId, id, active ? timers : []);
    if (active) await addRunLanes(tx, [id]);
    await notifySourceChanged(tx, id);
  });
}

/** A timer whose schedule stays the same keeps its ticks; a changed one starts anew from now. */
async function putTimers(
  tx: Transaction,
  accountId: string,
  sourceId: string,
  timers: readonly TimerProp[],
): Promise<void> {
  await tx`
    delete from timers where source_id = ${sourceId} and prop_name <> all(${timers.map((timer) => timer.name)}::text[])`;
  for (const { name, schedule } of timers) {
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
    if (row === undefined) continue;
    const dueAtMs = nextTickMs(schedule, row.anchor_ms, row.anchor_ms);
    if (dueAtMs !== undefined)
      await addTimerTick(tx, { sourceId, propName: name, generation: row.generation, dueAtMs });
  }
}

export interface TimerTick {
  sourceId: string;
  propName: string;
  /** A tick of an older generation than the timer's does nothing. */
  generation: number;
  dueAtMs: number;
}

export async function addTimerTick(tx: Transaction, tick: TimerTick): Promise<void> {
  const key = `timer:${tick.sourceId}:${tick.propName}`;
  await addJobs(tx, [{ task: TASKS.fireTimer, payload: tick, key, runAtMs: tick.dueAtMs }]);
}
