import { addJobs, type JobSpec, type Sql, type Transaction } from '../db/index.ts';
import type { AfterAttempt } from './attempt.ts';

export interface RetryRecording<R> {
  /**
   * Writes the outcomes of attempts whose lease this node still has. Returns for each whether it
   * was written.
   */
  update: (sql: Sql | Transaction, results: readonly R[]) => Promise<boolean[]>;
  /** The lane job of the next attempt. */
  laneOf: (result: R, nextAttemptAtMs: number) => JobSpec;
  /**
   * Writes other rows with it, and answers further jobs, for what these let begin. Default:
   * nothing.
   */
  also?: ((tx: Transaction, recorded: readonly R[]) => Promise<readonly JobSpec[]>) | undefined;
}

/**
 * One statement; where there are retries, their jobs are in the same transaction. Where there are
 * nothing but retries, none waits for the disk: a database that crashes within that second forgets
 * them together with their jobs, and the attempts are made once more. Otherwise each batch of a
 * dead receiver would flush the log, and the commits of live ones wait for that.
 */
export async function recordWithRetries<R extends AfterAttempt>(
  sql: Sql,
  results: readonly R[],
  { update, laneOf, also }: RetryRecording<R>,
): Promise<boolean[]> {
  const jobs = results.flatMap((result) =>
    result.status === 'pending' ? [laneOf(result, result.nextAttemptAtMs)] : [],
  );
  if (jobs.length === 0 && also === undefined) return update(sql, results);
  const isAllRetries = results.every(({ status }) => status === 'pending');
  return sql.begin(async (tx) => {
    if (isAllRetries) await tx`set local synchronous_commit = off`;
    const recorded = await update(tx, results);
    const lanes = await also?.(
      tx,
      results.filter((_, nth) => recorded[nth]),
    );
    await addJobs(tx, [...jobs, ...(lanes ?? [])]);
    return recorded;
  });
}
