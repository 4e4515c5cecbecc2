import { setTimeout as sleep } from 'node:timers/promises';
import { restAfterMs } from '../fairness/index.ts';
import { notifySourceChanged, type Sql, type Transaction } from '../db/index.ts';
import { deleteStepComponents } from '../components/index.ts';
import { PARKED, wakeJobKey } from './run/park-executions.sql.ts';
import { dropTimers } from '../sources/index.ts';
import { readOwnSources } from './read-workflows.sql.ts';

/**
 * Ends a workflow: no endpoint, timer, subscription, version, secret or waiting execution is left;
 * one that runs at this moment ends without effect. Its events stay until deliveries of them are
 * through, and the records of its executions until they are old. `has-sources`: nothing is done, as
 * a version that came meanwhile has sources of its own, which are to be deleted before.
 */
export async function deleteWorkflow(
  sql: Sql,
  accountId: string,
  id: string,
): Promise<'deleted' | 'absent' | 'has-sources'> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      select from emitters
      where account_id = ${accountId} and id = ${id} and kind = 'workflow' and deleted_at is null for no key update`;
    if (rows.length === 0) return 'absent';
    if ((await readOwnSources(tx, accountId, id)).length > 0) return 'has-sources';
    await tx`update emitters set deleted_at = now(), active = false, deployment_id = null where id = ${id}`;
    // First: a replay of an execution holds its version, and the statements below find the
    // executions that it leaves.
    await deleteVersions(tx, accountId, id);
    // Before its invocations, in the lock order of claims.
    await tx`delete from workflow_turns where workflow_id = ${id}`;
    await tx`delete from endpoints where account_id = ${accountId} and source_id = ${id}`;
    await dropTimers(tx, id);
    await cancelExecutions(tx, accountId, id);
    await tx`delete from auto_subscriptions where account_id = ${accountId} and listener_id = ${id}`;
    await tx`
      delete from subscriptions where account_id = ${accountId} and (emitter_id = ${id} or listener_id = ${id})`;
    await tx`delete from emitter_state where account_id = ${accountId} and emitter_id = ${id}`;
    await notifySourceChanged(tx, id);
    return 'deleted';
  });
}

async function deleteVersions(tx: Transaction, accountId: string, workflowId: string): Promise<void> {
  const components = await tx<{ id: string }[]>`
    with gone as (delete from deployments where account_id = ${accountId} and workflow_id = ${workflowId} returning steps)
    select distinct s ->> 'componentId' as id from gone cross join jsonb_array_elements(gone.steps) s`;
  await deleteStepComponents(
    tx,
    accountId,
    components.map(({ id }) => id),
  );
}

/**
 * Executions cancelled in one transaction: a statement that waits for one of these rows waits for a
 * fraction of a second.
 */
const CANCEL_BATCH = 1_000;

/**
 * Cancels what waits for a workflow that is about to be deleted, in short transactions: together
 * with the deletion, hundreds of thousands would keep its row locked for minutes. What comes
 * meanwhile the deletion finds. Where this ends early, the workflow is there to be deleted again.
 */
export async function cancelWaitingExecutions(sql: Sql, accountId: string, workflowId: string): Promise<void> {
  for (const lease of [null, PARKED]) {
    for (let mayBeMore = true; mayBeMore; ) {
      const begunMs = performance.now();
      mayBeMore = await cancelSome(sql, { accountId, workflowId, lease });
      if (mayBeMore) await sleep(restAfterMs(performance.now() - begunMs));
    }
  }
}

/** Answers whether there may be more. */
async function cancelSome(
  sql: Sql,
  { accountId, workflowId, lease }: { accountId: string; workflowId: string; lease: string | null },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    // Before its invocations, in the lock order of claims.
    await tx`select from workflow_turns where workflow_id = ${workflowId} for update`;
    // In the lock order of transactions that wake executions.
    const rows = await tx<{ id: string }[]>`
      select id from invocations
      where account_id = ${accountId} and source_id = ${workflowId}
        and ${lease === null ? tx`leased_by is null` : tx`leased_by = ${lease}`}
      order by leased_by, source_id, id limit ${CANCEL_BATCH} for update`;
    if (rows.length > 0)
      await cancelExecutions(
        tx,
        accountId,
        workflowId,
        rows.map(({ id }) => id),
      );
    return rows.length === CANCEL_BATCH;
  });
}

/**
 * Locks executions after invocations, as transactions that park, wake or end them do. `ids`:
 * default all.
 */
async function cancelExecutions(
  tx: Transaction,
  accountId: string,
  workflowId: string,
  ids?: readonly string[],
): Promise<void> {
  const wanted = (column: 'id' | 'execution_id') =>
    ids === undefined ? tx`` : tx`and ${tx(column)} = any(${ids}::text[])`;
  const gone = await tx<{ id: string }[]>`
    delete from invocations where account_id = ${accountId} and source_id = ${workflowId} ${wanted('id')} returning id`;
  // Steps of an execution that has not ended are in no list: only its record leads to them. A
  // separate statement sees rows that a node wrote while the one before waited for it.
  await tx`
    delete from execution_steps s using unnest(${gone.map(({ id }) => id)}::text[]) as gone(id)
    where s.execution_id = gone.id and not exists (select from executions e where e.id = gone.id)`;
  await tx`
    with ended as (
      update executions set status = 'cancelled', ended_at = now(), ended_in = pg_current_xact_id()
      where account_id = ${accountId} and workflow_id = ${workflowId} and ended_at is null
        -- those that have not ended have one of these, and an index that leads to them past millions that have
        and status in ('waiting', 'queued') and status <> 'succeeded' ${wanted('id')} returning id
    )
    update execution_steps s set status = 'cancelled' from ended
    where s.execution_id = ended.id and s.status in ('waiting', 'rerun')`;
  await tx`
    with gone as (
      delete from execution_waits where account_id = ${accountId} and workflow_id = ${workflowId}
        ${wanted('execution_id')} returning execution_id
    )
    -- keys of jobs have another collation than ids: in that of ids each would be looked for in all jobs
    select count(graphile_worker.remove_job((${wakeJobKey('')}::text || execution_id) collate "default")) from gone`;
}
