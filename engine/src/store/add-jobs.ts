import type { Sql, Transaction } from './database.ts';

export interface JobSpec {
  task: string;
  payload: object;
  /** A second job with the same key replaces one that has not started; one that runs already is followed by the new one. */
  key: string;
  /** Epoch milliseconds; default now. */
  runAtMs?: number;
  /** Of the jobs that are due those with a lower one come first. Default 0. */
  priority?: number;
}

/** A job is started again this often when its handler throws (a database outage), with graphile-worker's backoff. */
const MAX_ATTEMPTS = 25;
const MAX_TRIES = 5;

/**
 * Adds graphile-worker jobs inside the caller's transaction: the rows that need work and the job that does it land
 * together or not at all.
 */
export async function addJobs(tx: Sql | Transaction, specs: readonly JobSpec[]): Promise<void> {
  if (specs.length === 0) return;
  const byKey = new Map(specs.map((spec) => [spec.key, spec]));
  // In one order, so that two transactions that add some of the same do not wait for each other.
  const unique = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  // add_jobs skips a key whose job was started between its own two statements; that job may not see our rows. Called
  // again, it finds the started job and adds a new one.
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if ((await addOnce(tx, unique)) === unique.length) return;
  }
  throw new Error(`graphile_worker.add_jobs did not take all of ${unique.length} jobs in ${MAX_TRIES} calls`);
}

async function addOnce(tx: Sql | Transaction, unique: readonly JobSpec[]): Promise<number> {
  const rows = await tx`
    select 1 from graphile_worker.add_jobs(array(
      select row(task, payload::json, null,
        case when run_at_ms > 0 then to_timestamp(run_at_ms / 1000.0) else now() end, ${MAX_ATTEMPTS}::int2, key, priority, null)
        ::graphile_worker.job_spec
      from unnest(
        ${unique.map((spec) => spec.task)}::text[],
        ${unique.map((spec) => JSON.stringify(spec.payload))}::text[],
        ${unique.map((spec) => spec.runAtMs ?? 0)}::float8[],
        ${unique.map((spec) => spec.key)}::text[], ${unique.map((spec) => spec.priority ?? 0)}::int2[]
      ) as spec(task, payload, run_at_ms, key, priority)
    ))`;
  return rows.length;
}
