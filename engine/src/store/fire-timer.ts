import type { FireTimerPayload } from '../jobs/tasks.ts';
import type { HeldInvocation } from '../run/invocation.ts';
import { nextTickMs, type TimerSchedule } from '../schedule/next-tick.ts';
import { newId } from '@headwater/shared';
import { addTimerTick } from './change-source.ts';
import type { Sql, Transaction } from './database.ts';

interface TimerRow {
  account_id: string;
  interval_seconds: number | null;
  cron: string | null;
  timezone: string | null;
  anchor_ms: number;
}

/**
 * One tick: the invocation and the next tick's job land in one transaction, so a timer neither stops nor doubles when a
 * node dies. A tick that comes while the timer's last run has not ended is passed over (runs of one timer never
 * overlap). Answers the invocation, leased by this node, if there is one to run.
 */
export async function fireTimer(
  sql: Sql,
  tick: FireTimerPayload,
  nodeId: string,
  nowMs: number,
): Promise<HeldInvocation | undefined> {
  return sql.begin(async (tx) => {
    const rows = await tx<TimerRow[]>`
      select t.account_id, t.interval_seconds, t.cron, t.timezone, extract(epoch from t.anchor_at)::float8 * 1000 as anchor_ms
      from timers t join sources s on s.id = t.source_id and s.active and s.deleted_at is null
      where t.source_id = ${tick.sourceId} and t.prop_name = ${tick.propName} and t.generation = ${tick.generation}
      for update of t`;
    const [timer] = rows;
    if (timer === undefined) return undefined;
    const dueAtMs = nextTickMs(scheduleOf(timer), timer.anchor_ms, nowMs);
    if (dueAtMs !== undefined) await addTimerTick(tx, { ...tick, dueAtMs });
    return insertTick(tx, tick, timer, nodeId, nowMs);
  });
}

function scheduleOf(timer: TimerRow): TimerSchedule {
  if (timer.cron === null) return { intervalSeconds: timer.interval_seconds ?? 0 };
  return timer.timezone === null ? { cron: timer.cron } : { cron: timer.cron, timezone: timer.timezone };
}

async function insertTick(
  tx: Transaction,
  tick: FireTimerPayload,
  timer: TimerRow,
  nodeId: string,
  nowMs: number,
): Promise<HeldInvocation | undefined> {
  const id = newId('invocation', nowMs);
  const event = JSON.stringify({
    timestamp: Math.floor(nowMs / 1000),
    interval_seconds: timer.interval_seconds ?? undefined,
    cron: timer.cron ?? undefined,
    timezone: timer.timezone ?? undefined,
  });
  const rows = await tx`
    insert into invocations (id, account_id, source_id, kind, timer_prop, event, leased_by, attempts)
    select ${id}, ${timer.account_id}, ${tick.sourceId}, 'timer', ${tick.propName}, ${event}, ${nodeId}, 1
    where not exists (
      select 1 from invocations where source_id = ${tick.sourceId} and timer_prop = ${tick.propName}
    )
    returning id`;
  if (rows.length === 0) return undefined;
  const { sourceId } = tick;
  return { id, accountId: timer.account_id, sourceId, kind: 'timer', event, attempts: 1, leasedBy: nodeId };
}
