import { HeadwaterError, LIMITS } from '@headwater/shared';
import type { InvocationKind } from '../../events/index.ts';
import { addRunLanes, placeOf } from '../../runs/index.ts';
import type { Sql, Transaction } from '../../db/index.ts';

export interface EndedExecution {
  workflowId: string;
  deploymentId: string;
  kind: InvocationKind;
  status: string;
  event: string;
  context: string;
  /** In their order. */
  steps: { namespace: string; status: string }[];
}

/**
 * `running`: it has not ended. Undefined: the account has no such execution. One statement, since a
 * deletion could come between two.
 */
export async function readEndedExecution(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<EndedExecution | 'running' | undefined> {
  const [row] = await sql<({ isRunning: boolean; isThere: boolean } & EndedExecution)[]>`
    select i.id is not null as "isRunning", e.id is not null as "isThere", e.workflow_id as "workflowId",
      e.deployment_id as "deploymentId", e.kind, e.status, e.event, e.context, (
        select coalesce(jsonb_agg(jsonb_build_object('namespace', s.namespace, 'status', s.status) order by s.position), '[]')
        from execution_steps s where s.execution_id = e.id and s.account_id = e.account_id
      ) as steps
    from (values (${id}::text, ${accountId}::text)) as k(id, account_id)
    left join invocations i on i.id = k.id and i.account_id = k.account_id and starts_with(i.id, 'exec_')
    left join executions e on e.id = k.id and e.account_id = k.account_id`;
  if (row === undefined) return undefined;
  const { isRunning, isThere, ...execution } = row;
  if (isRunning) return 'running';
  return isThere ? execution : undefined;
}

export interface Replay {
  id: string;
  of: string;
  accountId: string;
  workflowId: string;
  deploymentId: string;
  kind: InvocationKind;
  event: string;
  context: string;
  /** How many of the first steps are taken over. */
  completed: number;
  /** If a replay exists already, nothing is written. */
  onlyFirst: boolean;
}

/**
 * Inserts the execution, the steps that it takes over, and its place in the queue, in one
 * transaction. Sends of those steps are not repeated. Returns the bytes of the steps for
 * maxHistoryBytes, or undefined if its version is gone. If the original was deleted meanwhile,
 * writes nothing: without its steps, their effects would be repeated.
 */
export async function insertExecutionReplay(sql: Sql, replay: Replay): Promise<number | 'replayed' | undefined> {
  const { id, of, accountId, workflowId, deploymentId, kind, event, context, completed } = replay;
  return sql.begin(async (tx) => {
    if (!(await holdVersion(tx, deploymentId))) return undefined;
    const strength = replay.onlyFirst ? tx`for no key update` : tx`for key share`;
    const { count: found } =
      await tx`select from executions where id = ${of} and account_id = ${accountId} ${strength}`;
    if (found === 0) throw isGone(of);
    if (replay.onlyFirst && (await tx`select from executions where replay_of = ${of} limit 1`).count > 0)
      return 'replayed';
    await tx`
      insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, trace_id, replay_of,
        started_at)
      values (${id}, ${accountId}, ${workflowId}, ${deploymentId}, ${kind}, 'queued', ${event}, ${context}, ${id}, ${of},
        now())`;
    const steps = await tx<{ bytes: number }[]>`
      insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, value, exports,
        logs, props, props_cut, error, started_at, ended_at)
      select ${id}, position, account_id, ${deploymentId}, namespace,
        case when status = 'continued' then status else 'done' end, runs, value, exports, logs, props, props_cut, error,
        started_at, ended_at
      from execution_steps where execution_id = ${of} and account_id = ${accountId} and position < ${completed}
      returning ${LIMITS.historyRowBytes}::int4 + coalesce(octet_length(value), 0) + octet_length(exports) + octet_length(logs)
        + coalesce(octet_length(error), 0) + coalesce(octet_length(props), 0) as bytes`;
    if (steps.length !== completed) throw isGone(of);
    // Inserted as if taken before, so that the node that takes it looks for completed steps.
    await tx`
      insert into invocations (id, account_id, source_id, kind, event, attempts, claim, place)
      select r.*, 1, 1, ${placeOf(tx)}
      from (values (${id}, ${accountId}, ${workflowId}, ${kind}, ${event})) as r(id, account_id, source_id, kind, event)`;
    await addRunLanes(tx, [workflowId]);
    return steps.reduce((sum, { bytes }) => sum + bytes, 0);
  });
}

function isGone(id: string): HeadwaterError {
  return new HeadwaterError('CONFLICT', `Execution ${id} was deleted meanwhile; there is nothing left of it to replay`);
}

/** Until the replay is there, and as long as it is, its version is kept. False: it was deleted. */
async function holdVersion(tx: Transaction, deploymentId: string): Promise<boolean> {
  const [version] = await tx<{ is_unused: boolean }[]>`
    select unused_since is not null as is_unused from deployments where id = ${deploymentId} for key share`;
  if (version?.is_unused === true) await tx`update deployments set unused_since = null where id = ${deploymentId}`;
  return version !== undefined;
}
