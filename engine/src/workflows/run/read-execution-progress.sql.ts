import type { FailedExecutionChoice } from '../../contract/index.ts';
import { createBatcher, growingInterval, type Sql } from '../../db/index.ts';
import type { ExecutionCommit } from '../../runs/index.ts';
import type { StepRun } from './run-steps.ts';

export interface ProgressStep {
  position: number;
  namespace: string;
  status: 'done' | 'failed' | 'continued' | 'rerun' | 'waiting';
  runs: number;
  value: string | null;
  exports: string;
  logs: string;
  sends: string | null;
  error: string | null;
}

/** Progress of an execution so far. */
export interface ExecutionProgress {
  /** Absent if it has neither completed a step nor waited, and is no replay. */
  deploymentId?: string;
  /** JSON text; absent if it was never stored. */
  context?: string;
  startedAtMs?: number;
  replayOf?: string;
  /** In their order. */
  steps: ProgressStep[];
  /** The step that is to be run again. */
  again?: { position: number } & StepRun;
  /** Bytes that count for maxWaitingBytes from its last wait, until the next write. */
  waitedBytes?: number;
}

interface ExecutionRow {
  status: string;
  deployment_id: string;
  context: string;
  started_at_ms: number;
  replay_of: string | null;
}

interface WaitRow {
  position: number;
  runs: number;
  failures: number;
  context: string | null;
  resume_data: string | null;
  bytes: number;
}

const startOf = ({ status, started_at_ms: ms }: ExecutionRow) => (status === 'queued' ? undefined : ms);

const MAX_BATCH = 64;
/**
 * Executions that are taken together are asked for together; one that comes alone does not wait.
 */
const INTERVAL_MS = growingInterval(2, 2);

/**
 * readExecutionProgress for executions that were taken before. Most of those that a dead node left
 * had not begun: one query says so of all that are taken together.
 */
export function createProgressReads(sql: Sql): (id: string) => Promise<ExecutionProgress> {
  const batcher = createBatcher<string, boolean>({
    maxBatch: MAX_BATCH,
    minIntervalMs: INTERVAL_MS,
    commit: async (ids) => {
      const begun = await findBegun(sql, ids);
      return ids.map((id) => begun.has(id));
    },
  });
  return async (id) => ((await batcher.add(id)) ? readExecutionProgress(sql, id) : { steps: [] });
}

/** Those of which readExecutionProgress finds anything. */
async function findBegun(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const rows = await sql<{ id: string }[]>`
    select taken.id from unnest(${[...ids]}::text[]) as taken(id)
    where exists (select from execution_steps s where s.execution_id = taken.id)
      or exists (select from executions e where e.id = taken.id)
      or exists (select from execution_waits w where w.execution_id = taken.id)`;
  return new Set(rows.map((row) => row.id));
}

async function readExecutionProgress(sql: Sql, id: string): Promise<ExecutionProgress> {
  const [steps, [execution], [wait]] = await Promise.all([
    sql<(ProgressStep & { deployment_id: string; started_at_ms: number })[]>`
      select position, deployment_id, namespace, status, runs, value, exports, logs, sends, error,
        floor(extract(epoch from started_at) * 1000)::float8 as started_at_ms
      from execution_steps where execution_id = ${id} order by position`,
    sql<ExecutionRow[]>`
      select status, deployment_id, context, replay_of, floor(extract(epoch from started_at) * 1000)::float8 as started_at_ms
      from executions where id = ${id}`,
    sql<WaitRow[]>`
      select position, runs, failures, context, resume_data,
        greatest(bytes, coalesce(octet_length(context), 0) + coalesce(octet_length(resume_data), 0))::int8 as bytes
      from execution_waits
      where execution_id = ${id} and kind in ('rerun', 'retry')`,
  ]);
  const [first] = steps;
  const deploymentId = execution?.deployment_id ?? first?.deployment_id;
  // Steps of a replay may be those of another execution.
  const startedAtMs = execution === undefined ? first?.started_at_ms : startOf(execution);
  return {
    steps,
    ...(deploymentId === undefined ? {} : { deploymentId }),
    ...(startedAtMs === undefined ? {} : { startedAtMs }),
    ...(execution === undefined ? {} : { context: execution.context }),
    ...(typeof execution?.replay_of === 'string' ? { replayOf: execution.replay_of } : {}),
    ...(wait === undefined ? {} : { again: againOf(wait), waitedBytes: wait.bytes }),
  };
}

function againOf({ position, runs, failures, context, resume_data: data }: WaitRow) {
  return { position, runs, failures, context: context ?? undefined, callback: data ?? undefined };
}

/**
 * Whether a commit without an answer was written. It is one transaction, so its end, or its last
 * step if it has no end, decides for all of it. Another holder would have written another time.
 */
export async function isExecutionCommitted(sql: Sql, { key, steps, end }: ExecutionCommit): Promise<boolean> {
  const last = steps.at(-1);
  const msOf = (column: string) => sql`round(extract(epoch from ${sql(column)}) * 1000)::float8`;
  const rows =
    end !== undefined || last === undefined
      ? await sql`select from executions where id = ${key.id} and ${msOf('ended_at')} = ${end?.endedAtMs ?? null}::float8`
      : await sql`
          select from execution_steps where execution_id = ${key.id} and position = ${last.position}
            and runs = ${last.runs} and ${msOf('started_at')} = ${last.startedAtMs}::float8
            and ${msOf('ended_at')} = ${last.endedAtMs}::float8`;
  return rows.length > 0;
}

/** Failed executions of a workflow behind an id, which nothing has replayed yet, oldest first. */
export async function readFailedExecutions(
  sql: Sql,
  place: { accountId: string; workflowId: string; after: string; limit: number },
  { since, until, code }: FailedExecutionChoice,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select e.id from executions e
    where e.workflow_id = ${place.workflowId} and e.status = 'failed' and e.account_id = ${place.accountId}
      and e.id > ${place.after}
      ${since === undefined ? sql`` : sql`and e.ended_at >= ${since.toISOString()}::timestamptz`}
      ${until === undefined ? sql`` : sql`and e.ended_at < ${until.toISOString()}::timestamptz`}
      ${code === undefined ? sql`` : sql`and starts_with(e.error, ${`{"code":${JSON.stringify(code)}`})`}
      and not exists (select from executions r where r.replay_of = e.id)
    order by e.id limit ${place.limit}`;
  return rows.map(({ id }) => id);
}
