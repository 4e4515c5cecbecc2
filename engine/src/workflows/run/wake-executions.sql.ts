import { addJobs, type Sql, type Transaction } from '../../db/index.ts';
import { addRunLanes } from '../../runs/index.ts';
import { PARKED, WAKE_KEY, wakeJob } from './park-executions.sql.ts';

interface WokenRow {
  execution_id: string;
  source_id: string;
  position: number;
  kind: string;
  resume_data: string | null;
}

/**
 * Moves executions that are due back to the queue of their workflow, in one transaction. The data
 * of the request that resumed one becomes an export of the step that waited. Skips executions that
 * are no longer due, or already awake.
 */
export async function wakeExecutions(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.begin(async (tx) => {
    // Invocations before waits, in one order everywhere: a concurrent resume locks the same rows.
    const parked = await tx<{ id: string }[]>`
      select id from invocations where id = any(${[...new Set(ids)]}::text[]) and leased_by = ${PARKED} order by id for update`;
    const rows = await tx<WokenRow[]>`
      with woken as (
        update invocations i set leased_by = null from execution_waits w
        where i.id = any(${parked.map(({ id }) => id)}::text[]) and w.execution_id = i.id and w.wake_at <= clock_timestamp()
        returning i.id, i.source_id
      )
      select w.execution_id, woken.source_id, w.position, w.kind, w.resume_data
      from woken join execution_waits w on w.execution_id = woken.id`;
    const over = rows.filter(({ kind }) => kind === 'delay' || kind === 'suspend');
    await endWaits(tx, over);
    await addRunLanes(
      tx,
      rows.map((row) => row.source_id),
    );
  });
}

/**
 * The step is done. A wait for another run of the step stays, and says which it is, until that has
 * been committed.
 */
async function endWaits(tx: Transaction, over: readonly WokenRow[]): Promise<void> {
  if (over.length === 0) return;
  const ids = over.map((row) => row.execution_id);
  await tx`delete from execution_waits where execution_id = any(${ids}::text[])`;
  await tx`
    update execution_steps s set status = 'done', exports = case when d.data is null then s.exports
      when s.exports = '{}' then '{"$resume_data":' || d.data || '}'
      else '{"$resume_data":' || d.data || ',' || substr(s.exports, 2) end
    from unnest(
      ${ids}::text[], ${over.map((row) => row.position)}::int4[], ${over.map((row) => row.resume_data)}::text[]
    ) as d(id, position, data)
    where s.execution_id = d.id and s.position = d.position`;
}

/** Maximum number of overdue waits in one call. */
const OVERDUE_BATCH = 1_000;

/**
 * Adds a job for waits that are over and have lost theirs. Data for a step that then did not wait
 * is deleted with the end of its execution.
 */
export async function requeueOverdueWaits(sql: Sql, afterMs: number): Promise<void> {
  const overdue = sql`wake_at < now() - make_interval(secs => ${afterMs / 1000}::float8)`;
  await sql`
    delete from execution_waits w using (
      select execution_id from execution_waits where ${overdue} order by wake_at limit ${OVERDUE_BATCH}
    ) as late
    where w.execution_id = late.execution_id and not exists (select from invocations i where i.id = w.execution_id)`;
  await sql.begin(async (tx) => {
    // Added again, a job that waits for its turn would be the last once more. Keys of jobs have
    // another collation than ids.
    const rows = await tx<{ execution_id: string }[]>`
      select late.execution_id from (
        select w.execution_id from execution_waits w join invocations i on i.id = w.execution_id and i.leased_by = ${PARKED}
        where ${overdue} order by w.wake_at limit ${OVERDUE_BATCH} for update of w skip locked
      ) as late
      where not exists (
        select from graphile_worker.jobs j
        where j.key = (${WAKE_KEY}::text || late.execution_id) collate "default" and j.attempts < j.max_attempts
      )`;
    await addJobs(
      tx,
      rows.map((row) => wakeJob(row.execution_id, Date.now())),
    );
  });
}
