import type { Sql, Transaction } from '../database.ts';
import { freed } from './job-statements.ts';

/**
 * Frees the jobs that dead pools hold, and deletes those of them that were superseded.
 * graphile-worker itself waits four hours, in which the lane (and a timer) would stand still. A job
 * that is run twice because its worker lived after all does no harm: lanes claim their rows one by
 * one. Waits for no lock: what another transaction changes is freed by freeLostJobs.
 */
export async function unlockJobs(tx: Sql | Transaction, pools: readonly string[]): Promise<void> {
  if (pools.length === 0) return;
  await tx.unsafe(`with ${freed('locked_by = any($1::text[])')} select count(*) from ended`, [[...pools]]);
}

export interface LostJobsOptions {
  /** After which the jobs of a pool are free that no registered node claims. */
  strayAfterMs: number;
  /** After which any job is free: the answer that fetched it was lost. No job takes so long. */
  lostAfterMs: number;
}

/**
 * Frees locked jobs that no worker holds any more, and deletes superseded jobs that are not locked.
 */
export async function freeLostJobs(tx: Sql | Transaction, options: LostJobsOptions): Promise<void> {
  const { strayAfterMs, lostAfterMs } = options;
  const isLost = `(locked_at <= now() - make_interval(secs => $1::float8 / 1000)
      and not exists (select from nodes where nodes.job_pool = locked_by))
    or locked_at <= now() - make_interval(secs => $2::float8 / 1000)`;
  await tx.unsafe(`with ${freed(isLost)} select count(*) from ended`, [strayAfterMs, lostAfterMs]);
  await tx`
    delete from graphile_worker._private_jobs where id in (
      select id from graphile_worker._private_jobs where key is null and locked_at is null for update skip locked
    )`;
}
