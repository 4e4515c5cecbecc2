/**
 * Statements that replace graphile-worker's own for the end of jobs. Its own have three faults
 * under load and failures:
 *
 * - They wait for rows of jobs while they hold others, in any order. `add_jobs` does so too, so the
 *   two deadlock. These skip rows that another transaction has locked, and answer them: the caller
 *   asks again. So they are in no cycle.
 * - They end a job by its id alone, also when it was unlocked and is at work elsewhere. These name
 *   the pool that holds it.
 * - A job that fails waits e^attempts seconds, 148 at the fifth, and is dead after the last. A lane
 *   or timer must go on.
 *
 * A job without a key was superseded: `add_jobs` took its key for a newer one while it ran. It is
 * deleted, however it ends.
 */
export interface JobStatement {
  /** Name of the prepared statement. */
  name: string;
  text: string;
}

const JOBS = 'graphile_worker._private_jobs';

/** $1: job ids, $2: the pool. Answers the ids that are still the pool's, for another try. */
export const COMPLETE_JOBS: JobStatement = {
  name: 'headwater_complete_jobs',
  text: `
    with ended as (
      delete from ${JOBS} where id in (
        select id from ${JOBS} where id = any($1::bigint[]) and locked_by = $2::text order by id for update skip locked
      ) returning id
    )
    select id from ${JOBS}
    where id = any($1::bigint[]) and locked_by = $2::text and id not in (select id from ended)`,
};

/** $1: job ids, $2: the pool. Answers as COMPLETE_JOBS. The jobs may start again at once. */
export const RETURN_JOBS: JobStatement = {
  name: 'headwater_return_jobs',
  text: `
    with ${freed(`id = any($1::bigint[]) and locked_by = $2::text`)}
    select id from ${JOBS}
    where id = any($1::bigint[]) and locked_by = $2::text and id not in (select id from ended)`,
};

/**
 * $1: ids of the jobs that the pool knows of, $2: the pool. Frees all others that are locked for
 * it: the answer that fetched them was lost with its connection.
 */
export const RETURN_UNKNOWN_JOBS: JobStatement = {
  name: 'headwater_return_unknown_jobs',
  text: `
    with ${freed(`locked_by = $2::text and id <> all($1::bigint[])`)}
    select null::bigint as id where false`,
};

/** Pauses between the tries of a job: 250 ms, doubled each time. */
const FIRST_RETRY_SECONDS = 0.25;
const MAX_RETRY_SECONDS = 60;
const MAX_DOUBLINGS = 12;

/** $1: a JSON list of `{ jobId, message }`, $2: the pool. Answers as COMPLETE_JOBS. */
export const FAIL_JOBS: JobStatement = {
  name: 'headwater_fail_jobs',
  text: `
    with failed as (
      select jobs.id, fault.message from json_to_recordset($1::json) as fault("jobId" bigint, message text)
      join ${JOBS} as jobs on jobs.id = fault."jobId"
      where jobs.locked_by = $2::text order by jobs.id for update of jobs skip locked
    ),
    superseded as (delete from ${JOBS} where id in (select id from failed) and key is null returning id),
    again as (
      update ${JOBS} as jobs set
        last_error = failed.message, locked_by = null, locked_at = null, attempts = least(attempts, max_attempts - 1),
        run_at = greatest(now(), run_at) + make_interval(secs => least(
          ${MAX_RETRY_SECONDS}, ${FIRST_RETRY_SECONDS} * power(2, least(attempts - 1, ${MAX_DOUBLINGS}))))
      from failed where jobs.id = failed.id and jobs.key is not null returning jobs.id
    )
    select id from ${JOBS}
    where id in (select "jobId" from json_to_recordset($1::json) as fault("jobId" bigint)) and locked_by = $2::text
      and id not in (select id from superseded union all select id from again)`,
};

/**
 * A list of common table expressions that frees the jobs for which `condition` holds, without
 * waiting for locks. `ended` has the ids of the jobs that were freed, or deleted because they were
 * superseded.
 */
export function freed(condition: string): string {
  return `
    mine as (select id from ${JOBS} where ${condition} order by id for update skip locked),
    superseded as (delete from ${JOBS} where id in (select id from mine) and key is null returning id),
    free as (
      update ${JOBS} set locked_by = null, locked_at = null, attempts = greatest(attempts - 1, 0)
      where id in (select id from mine) and key is not null returning id
    ),
    ended as (select id from superseded union all select id from free)`;
}
