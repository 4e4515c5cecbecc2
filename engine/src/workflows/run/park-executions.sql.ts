import {
  addJobs,
  type JobCrowds,
  type JobSpec,
  rowsOf,
  setLockTimeout,
  type Sql,
  TASKS,
  type Transaction,
} from '../../db/index.ts';
import { commitExecutions, type ExecutionCommit, type ExecutionWait } from '../../runs/index.ts';

/** The lease of an execution that waits: no node's. */
export const PARKED = 'parked';

interface Waiting {
  commit: ExecutionCommit;
  wait: ExecutionWait;
}

/**
 * Steps after which executions wait, in one transaction: their rows, what they wait for, and the
 * job that wakes them. Answers those that were written; the others have lost their lease.
 * `maxLockMs`: see setLockTimeout.
 */
export async function parkExecutions(
  sql: Sql,
  commits: readonly ExecutionCommit[],
  { priorityAt }: JobCrowds,
  maxLockMs?: number,
): Promise<Set<ExecutionCommit>> {
  return sql.begin(async (tx) => {
    // Sent together.
    const [, ours] = await Promise.all([setLockTimeout(tx, maxLockMs), commitExecutions(tx, commits)]);
    const waiting = commits.flatMap((commit) =>
      commit.wait === undefined || !ours.has(commit) ? [] : [{ commit, wait: commit.wait }],
    );
    await lease(tx, waiting);
    await putExecutions(tx, waiting);
    const waits = await putWaits(tx, waiting);
    await addJobs(
      tx,
      waits.map((wait) => wakeJob(wait.id, wait.wakeAtMs, priorityAt(wait.accountId, wait.wakeAtMs))),
    );
    return ours;
  });
}

/** With attempts of 1: see HeldInvocation.attempts. */
async function lease(tx: Transaction, waiting: readonly Waiting[]): Promise<void> {
  await tx`
    update invocations set leased_by = ${PARKED}, attempts = 1
    where id = any(${waiting.map(({ commit }) => commit.key.id)}::text[])`;
}

async function putExecutions(tx: Transaction, waiting: readonly Waiting[]): Promise<void> {
  const commits = waiting.map(({ commit }) => commit);
  await tx`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, caused_by, trace_id,
      started_at)
    select id, account_id, workflow_id, deployment_id, kind, 'waiting', event, context, caused_by, trace_id,
      to_timestamp(started / 1000.0)
    from ${rowsOf(tx, [
      ['text', commits.map(({ key }) => key.id)],
      ['text', commits.map(({ key }) => key.accountId)],
      ['text', commits.map(({ key }) => key.workflowId)],
      ['text', commits.map(({ key }) => key.deploymentId)],
      ['text', commits.map(({ start }) => start.kind)],
      ['text', commits.map(({ start }) => start.causedBy ?? null)],
      ['text', commits.map(({ start }) => start.traceId)],
      ['float8', commits.map(({ start }) => start.startedAtMs)],
      ['long', commits.map(({ start }) => start.context)],
      ['long', commits.map(({ start }) => start.event)],
    ])} as r(id, account_id, workflow_id, deployment_id, kind, caused_by, trace_id, started, context, event)
    on conflict (id) do update set status = 'waiting', deployment_id = excluded.deployment_id, context = excluded.context,
      started_at = excluded.started_at, ended_in = pg_current_xact_id()`;
}

interface ParkedWait {
  id: string;
  accountId: string;
  wakeAtMs: number;
}

/**
 * An execution that was resumed before it waited wakes at once. If the step waits for a retry, the
 * early resume stays beside that wait. It is for the first run of the step that then waits, unless
 * a later run gets its own.
 */
async function putWaits(tx: Transaction, waiting: readonly Waiting[]): Promise<ParkedWait[]> {
  const of = <T>(read: (wait: ExecutionWait) => T) => waiting.map(({ wait }) => read(wait));
  const isEarly = tx`(w.kind = 'early' and w.position = excluded.position and w.runs <= excluded.runs)`;
  const isResumed = tx`(${isEarly} and excluded.kind <> 'retry')`;
  const isBeside = tx`(${isEarly} and excluded.kind = 'retry')`;
  const rows = await tx<ParkedWait[]>`
    insert into execution_waits as w (execution_id, account_id, workflow_id, kind, position, runs, failures, token, wake_at,
      context, resume_data, bytes)
    select id, account_id, workflow_id, kind, position, runs, failures, token, to_timestamp(wake_at / 1000.0), context, callback,
      bytes
    from unnest(
      ${waiting.map(({ commit }) => commit.key.id)}::text[], ${waiting.map(({ commit }) => commit.key.accountId)}::text[],
      ${waiting.map(({ commit }) => commit.key.workflowId)}::text[], ${of((wait) => wait.kind)}::text[],
      ${of((wait) => wait.position)}::int4[], ${of((wait) => wait.runs)}::int4[], ${of((wait) => wait.failures)}::int4[],
      ${of((wait) => wait.token)}::text[], ${of((wait) => wait.wakeAtMs)}::float8[],
      ${of((wait) => wait.context ?? null)}::text[], ${of((wait) => wait.callback ?? null)}::text[],
      ${of((wait) => wait.bytes)}::int8[]
    ) as r(id, account_id, workflow_id, kind, position, runs, failures, token, wake_at, context, callback, bytes)
    on conflict (execution_id) do update set kind = excluded.kind, position = excluded.position, runs = excluded.runs,
      failures = excluded.failures, token = excluded.token, context = excluded.context,
      bytes = excluded.bytes + case when ${isEarly} then octet_length(w.resume_data) else 0 end, created_at = now(),
      wake_at = case when ${isResumed} then least(now(), excluded.wake_at) else excluded.wake_at end,
      resume_data = case when ${isResumed} then w.resume_data else excluded.resume_data end,
      early_token = case when ${isBeside} then w.token end, early_position = case when ${isBeside} then w.position end,
      early_runs = case when ${isBeside} then w.runs end, early_data = case when ${isBeside} then w.resume_data end
    returning execution_id as id, account_id as "accountId", extract(epoch from wake_at)::float8 * 1000 as "wakeAtMs"`;
  return [...rows];
}

export const WAKE_KEY = 'wake:';

/** The job that wakes an execution; it replaces the one that waits. */
export function wakeJob(executionId: string, runAtMs: number, priority = 0): JobSpec {
  return { task: TASKS.wakeExecution, payload: { executionId }, key: wakeJobKey(executionId), runAtMs, priority };
}

export function wakeJobKey(executionId: string): string {
  return WAKE_KEY + executionId;
}
