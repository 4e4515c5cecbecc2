import { crowdPriority } from '../db/jobs/job-crowds.ts';
import { addJobs } from '../db/jobs/add-jobs.ts';
import type { Sql } from '../db/database.ts';
import { timerJob } from '../sources/fire-timers.sql.ts';

interface OverdueTimer {
  source_id: string;
  prop_name: string;
  generation: number;
  due_ms: number;
}

/** Maximum number of overdue timers in one call. */
const OVERDUE_BATCH = 1_000;

/**
 * Adds a job for each overdue timer that has none, or whose job will never run again. Otherwise the
 * timer would never fire again.
 */
export async function requeueOverdueTimers(sql: Sql, afterMs: number): Promise<void> {
  await sql.begin(async (tx) => {
    const rows = await tx<OverdueTimer[]>`
      select t.source_id, t.prop_name, t.generation, t.due_ms from timers t
      join emitters s on s.id = t.source_id and s.active and s.deleted_at is null
      where t.due_ms < extract(epoch from now()) * 1000 - ${afterMs}::float8 and not exists (
        select from graphile_worker._private_jobs j
        where j.key = ('timer:' || t.source_id || ':' || t.prop_name) collate "default"
          and (j.locked_at is not null or j.is_available)
      )
      order by t.due_ms limit ${OVERDUE_BATCH} for update of t skip locked`;
    const priority = crowdPriority(rows.length);
    await addJobs(
      tx,
      rows.map((row) =>
        timerJob(
          { sourceId: row.source_id, propName: row.prop_name, generation: row.generation, dueAtMs: row.due_ms },
          priority,
        ),
      ),
    );
  });
}
