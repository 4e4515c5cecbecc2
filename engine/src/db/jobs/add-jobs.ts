import type { Sql, Transaction } from '../database.ts';

export interface JobSpec {
  task: string;
  payload: object;
  /**
   * A second job with the same key replaces one that has not started; one that runs already is
   * followed by the new one.
   */
  key: string;
  /** Epoch milliseconds; default now. */
  runAtMs?: number;
  /** Among due jobs, a lower priority runs first. Default 0. */
  priority?: number;
}

/**
 * The job is never given up: see FAIL_JOBS. graphile-worker takes jobs with fewer attempts than
 * these.
 */
export const MAX_JOB_ATTEMPTS = 25;

/**
 * Adds graphile-worker jobs inside the caller's transaction: rows and the job for them commit
 * together or not at all. Locks are taken in the order of the keys, so that transactions with
 * common keys do not deadlock. So a transaction adds all its jobs by one call, or by several whose
 * keys are in order.
 */
export async function addJobs(tx: Sql | Transaction, specs: readonly JobSpec[]): Promise<void> {
  if (specs.length === 0) return;
  const byKey = new Map(specs.map((spec) => [spec.key, spec]));
  const unique = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  await tx`
    select add_jobs_in_order(
      ${unique.map((spec) => spec.task)}::text[], ${unique.map((spec) => JSON.stringify(spec.payload))}::text[],
      ${unique.map((spec) => spec.runAtMs ?? 0)}::float8[], ${unique.map((spec) => spec.key)}::text[],
      ${unique.map((spec) => spec.priority ?? 0)}::int2[], ${MAX_JOB_ATTEMPTS}::int2
    )`;
}
