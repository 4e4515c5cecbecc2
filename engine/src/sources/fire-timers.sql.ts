import { ID_PREFIXES } from '@headwater/shared';
import {
  addJobs,
  type FireTimerPayload,
  type JobCrowds,
  type JobSpec,
  type Sql,
  TASKS,
  type Transaction,
} from '../db/index.ts';
import { type HeldInvocation, newInvocationId } from '../events/index.ts';
import { DEFAULT_TIME_ZONE, nextAfterMs, nextTickMs, type TimerSchedule } from '../schedule/index.ts';
import { placeOf, runLane } from '../runs/index.ts';

export interface FireTimersOptions {
  nodeId: string;
  /** How many more invocations of an account this node takes; the others wait for any node. */
  capacity: (accountId: string) => number;
  /** Whether nothing more of the account may wait. */
  isFull: (accountId: string) => boolean;
  /** Priority of the job for a tick that is due then. */
  priorityAt: JobCrowds['priorityAt'];
}

/**
 * `held`: the run is this node's to start. `queued`: it waits for any node. `passed-over`: the
 * timer's last run has not ended, as much of its account waits as may, or the account is suspended.
 * `stale`: the tick was fired before, or its timer is not set any more. `failed`: the schedule
 * cannot be read here.
 */
export type FiredTick =
  | { kind: 'held' | 'queued'; invocation: HeldInvocation }
  | { kind: 'passed-over' | 'stale' }
  | { kind: 'failed'; error: unknown };

interface TimerRow {
  source_id: string;
  prop_name: string;
  account_id: string;
  interval_seconds: number | null;
  cron: string | null;
  timezone: string | null;
  in_turn: boolean;
  is_suspended: boolean;
  anchor_ms: number;
  due_ms: number;
  now_ms: number;
}

/**
 * Ticks that came due together, in one transaction: their invocations, the next ticks and the jobs
 * for those land together, so a timer neither stops nor doubles when a node dies. A timer knows
 * when its next tick is due, and no other tick of it counts: a job that is run a second time does
 * nothing, also where the answer of the first commit was lost. Each tick is due later than the one
 * before, and its event carries that time. Runs of one timer of a source never overlap; a workflow
 * gets every tick, because an execution may wait for days, and its settings say how many run at the
 * same time. The clock is the database's, which starts the jobs as well. Answers one outcome a
 * tick, in their order.
 */
export async function fireTimers(
  sql: Sql,
  ticks: readonly FireTimerPayload[],
  options: FireTimersOptions,
): Promise<FiredTick[]> {
  return sql.begin(async (tx) => {
    const rows = onePerTimer(await lockTimers(tx, ticks));
    const due = rows.map((row) => dueTimer(row, options.nodeId));
    const ready = due.filter((timer) => timer.error === undefined);
    const nextTicks = await putNextTicks(tx, ready, options.priorityAt);
    const leased = leaseSome(ready, options.capacity);
    const made = await insertTicks(
      tx,
      leased.filter(({ isHeld, row }) => !row.is_suspended && (isHeld || !options.isFull(row.account_id))),
    );
    const lanes = made.filter((row) => row.leased_by === null).map((row) => runLane(row.source_id));
    await addJobs(tx, [...nextTicks, ...lanes]);
    const outcomes = outcomesOf(due, made);
    return ticks.map((tick) => {
      const key = keyOf(tick.sourceId, tick.propName, Math.round(tick.dueAtMs));
      const outcome = outcomes.get(key);
      // A copy of a failed tick fails too: both have the same job, and `stale` would end that.
      if (outcome?.kind !== 'failed') outcomes.delete(key);
      return outcome ?? { kind: 'stale' };
    });
  });
}

/**
 * A node that is declared dead while it stands still loses the lock of its jobs, and may take the
 * same job again while it still has it: then both come at once.
 */
function onePerTimer(rows: readonly TimerRow[]): TimerRow[] {
  const ofTimers = new Map(rows.map((row) => [`${row.source_id} ${row.prop_name}`, row]));
  return [...ofTimers.values()];
}

/** In one order everywhere, so that two nodes never wait for each other's timers. */
async function lockTimers(tx: Transaction, ticks: readonly FireTimerPayload[]): Promise<TimerRow[]> {
  return tx<TimerRow[]>`
    select t.source_id, t.prop_name, t.account_id, t.interval_seconds, t.cron, t.timezone, s.in_turn,
      a.suspended_at is not null as is_suspended,
      extract(epoch from t.anchor_at)::float8 * 1000 as anchor_ms, tick.due_ms,
      greatest(extract(epoch from clock_timestamp())::float8 * 1000, tick.due_ms) as now_ms
    from unnest(
      ${ticks.map((tick) => tick.sourceId)}::text[], ${ticks.map((tick) => tick.propName)}::text[],
      ${ticks.map((tick) => tick.generation)}::int8[], ${ticks.map((tick) => Math.round(tick.dueAtMs))}::int8[]
    ) as tick(source_id, prop_name, generation, due_ms)
    join timers t on t.source_id = tick.source_id and t.prop_name = tick.prop_name
      and t.generation = tick.generation and coalesce(t.due_ms, tick.due_ms) = tick.due_ms
    join emitters s on s.id = t.source_id and s.active and s.deleted_at is null
    join accounts a on a.id = t.account_id
    order by t.source_id, t.prop_name for update of t`;
}

/**
 * Between a late tick and the next one, when that was due as well: the run of the first may end,
 * and is no overlap.
 */
const LATE_GAP_MS = 200;

interface DueTimer {
  row: TimerRow;
  invocation: HeldInvocation;
  nextMs: number | undefined;
  error?: unknown;
}

function dueTimer(row: TimerRow, nodeId: string): DueTimer {
  const nowMs = Math.floor(row.now_ms);
  const event = JSON.stringify({
    timestamp: Math.floor(row.due_ms / 1000),
    interval_seconds: row.interval_seconds,
    cron: row.cron ?? undefined,
    timezone: row.cron === null ? undefined : (row.timezone ?? DEFAULT_TIME_ZONE),
  });
  const { account_id: accountId, source_id: sourceId, prop_name: propName } = row;
  const id = newInvocationId(sourceId, nowMs);
  const started = { id, accountId, sourceId, kind: 'timer' as const, propName, event };
  const invocation = { ...started, crashes: 0, attempts: 1, leasedBy: nodeId, claim: 1 };
  try {
    return { row, invocation, nextMs: nextTickMs(scheduleOf(row), row.anchor_ms, nextAfterMs(row.due_ms, nowMs)) };
  } catch (error) {
    // A time zone that this machine does not know: its neighbours must not wait for it, and the job
    // comes back.
    return { row, invocation, nextMs: undefined, error };
  }
}

function scheduleOf({ cron, timezone, interval_seconds: seconds }: TimerRow): TimerSchedule {
  if (cron === null) return { intervalSeconds: seconds ?? 0 };
  return timezone === null ? { cron } : { cron, timezone };
}

interface NextTickRow {
  account_id: string;
  source_id: string;
  prop_name: string;
  generation: number;
  due_ms: number | null;
}

async function putNextTicks(
  tx: Transaction,
  timers: readonly DueTimer[],
  priorityAt: FireTimersOptions['priorityAt'],
): Promise<JobSpec[]> {
  const rows = await tx<NextTickRow[]>`
    update timers t set due_ms = next.due_ms from unnest(
      ${timers.map(({ row }) => row.source_id)}::text[], ${timers.map(({ row }) => row.prop_name)}::text[],
      ${timers.map(({ nextMs }) => (nextMs === undefined ? null : Math.round(nextMs)))}::int8[]
    ) as next(source_id, prop_name, due_ms)
    where t.source_id = next.source_id and t.prop_name = next.prop_name
    returning t.account_id, t.source_id, t.prop_name, t.generation, t.due_ms`;
  const notBeforeMs = (timers[0]?.row.now_ms ?? 0) + LATE_GAP_MS;
  return rows.flatMap((row) => {
    const { account_id: accountId, source_id: sourceId, prop_name: propName, generation, due_ms: dueAtMs } = row;
    if (dueAtMs === null) return [];
    const job = timerJob({ sourceId, propName, generation, dueAtMs }, priorityAt(accountId, dueAtMs));
    return [{ ...job, runAtMs: Math.max(dueAtMs, notBeforeMs) }];
  });
}

/** The job of a timer's next tick; it replaces the one that waits. */
export function timerJob(tick: FireTimerPayload, priority: number): JobSpec {
  return {
    task: TASKS.fireTimer,
    payload: tick,
    key: timerJobKey(tick.sourceId, tick.propName),
    runAtMs: tick.dueAtMs,
    priority,
  };
}

export function timerJobKey(sourceId: string, propName: string): string {
  return `timer:${sourceId}:${propName}`;
}

function leaseSome(timers: readonly DueTimer[], capacity: FireTimersOptions['capacity']) {
  const left = new Map<string, number>();
  return timers.map((timer) => {
    const { accountId } = timer.invocation;
    const room = left.get(accountId) ?? capacity(accountId);
    left.set(accountId, room - 1);
    return { ...timer, isHeld: room > 0 && !timer.row.in_turn };
  });
}

interface MadeRow {
  id: string;
  source_id: string;
  leased_by: string | null;
}

async function insertTicks(tx: Transaction, timers: readonly (DueTimer & { isHeld: boolean })[]): Promise<MadeRow[]> {
  const invocations = timers.map((timer) => timer.invocation);
  return tx<MadeRow[]>`
    insert into invocations (id, account_id, source_id, kind, timer_prop, event, leased_by, attempts, claim, place)
    select tick.*, (tick.leased_by is not null)::int4, (tick.leased_by is not null)::int4, ${placeOf(tx)} from unnest(
      ${invocations.map(({ id }) => id)}::text[], ${invocations.map(({ accountId }) => accountId)}::text[],
      ${invocations.map(({ sourceId }) => sourceId)}::text[], ${invocations.map(({ kind }) => kind)}::text[],
      ${timers.map(({ row }) => row.prop_name)}::text[], ${invocations.map(({ event }) => event)}::text[],
      ${timers.map(({ isHeld, invocation }) => (isHeld ? invocation.leasedBy : null))}::text[]
    ) as tick(id, account_id, source_id, kind, timer_prop, event, leased_by)
    where starts_with(tick.source_id, ${ID_PREFIXES.workflow}) or not exists (
      select 1 from invocations i where i.source_id = tick.source_id and i.timer_prop = tick.timer_prop
    )
    returning id, source_id, leased_by`;
}

function outcomesOf(timers: readonly DueTimer[], made: readonly MadeRow[]): Map<string, FiredTick> {
  const leasedBy = new Map(made.map((row) => [row.id, row.leased_by]));
  return new Map(
    timers.map(({ row, invocation, error }): [string, FiredTick] => {
      const key = keyOf(row.source_id, row.prop_name, row.due_ms);
      if (error !== undefined) return [key, { kind: 'failed', error }];
      const holder = leasedBy.get(invocation.id);
      if (holder === undefined) return [key, { kind: 'passed-over' }];
      return [key, { kind: holder === null ? 'queued' : 'held', invocation }];
    }),
  );
}

const keyOf = (sourceId: string, propName: string, dueMs: number) => `${sourceId} ${propName} ${dueMs}`;
