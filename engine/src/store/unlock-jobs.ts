import type { Sql, Transaction } from './database.ts';

/**
 * Frees all jobs of workers of which one is locked for so long: the answer that fetched it was lost with its connection, and a timer whose
 * tick it is would not tick before graphile-worker's four hours are over. No job takes so long, and one that is run twice does no harm.
 */
export async function unlockLostJobs(sql: Sql, lockedForMs: number): Promise<void> {
  await sql`
    select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker.jobs
    where locked_at < now() - make_interval(secs => ${lockedForMs / 1000}::float8) having count(*) > 0`;
}

export interface UnlockJobsOptions {
  /** Pools of nodes that are gone. */
  pools: readonly string[];
  /**
   * Also pools that no registered node claims, for jobs locked at least this long: a node may die between its first job
   * and recordJobPool. Absent: those stay.
   */
  strayAfterMs?: number;
}

/**
 * Frees jobs that dead workers hold. graphile-worker itself waits four hours, in which the lane (and a timer) would stand
 * still. A job that is run twice because its worker lived after all does no harm: lanes claim their rows one by one.
 */
export async function unlockJobs(tx: Sql | Transaction, options: UnlockJobsOptions): Promise<void> {
  const pools = new Set(options.pools);
  if (options.strayAfterMs !== undefined) {
    const stray = await tx<{ pool: string }[]>`
      select distinct locked_by as pool from graphile_worker.jobs
      where locked_by is not null
        and locked_at <= now() - make_interval(secs => ${options.strayAfterMs / 1000}::float8)
        and not exists (select from nodes where nodes.job_pool = locked_by)`;
    for (const { pool } of stray) pools.add(pool);
  }
  if (pools.size > 0) await tx`select graphile_worker.force_unlock_workers(${[...pools]}::text[])`;
}
