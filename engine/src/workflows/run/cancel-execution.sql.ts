import { causeOf, type EventCause, type InvocationKind } from '../../events/index.ts';
import type { Sql, Transaction } from '../../db/index.ts';
import { addRunLanes, propNameOf } from '../../runs/index.ts';
import { wakeJobKey } from './park-executions.sql.ts';

export interface CancelledInvocation {
  id: string;
  accountId: string;
  workflowId: string;
  kind: InvocationKind;
  propName: string | undefined;
  event: string;
  cause: EventCause | undefined;
}

interface Row {
  account_id: string;
  source_id: string;
  kind: InvocationKind;
  prop_name: string | null;
  event: string;
  caused_by: string | null;
  trace_id: string | null;
  hops: number;
}

/**
 * An execution that could be cancelled; undefined if it does not exist. `hasBegun`: it has its own
 * row. `accountId`: see cancelExecution.
 */
export async function readCancellable(
  sql: Sql,
  { id, accountId }: { id: string; accountId?: string },
): Promise<(CancelledInvocation & { hasBegun: boolean }) | undefined> {
  const [row] = await sql<(Row & { has_begun: boolean })[]>`
    select account_id, source_id, kind, ${propNameOf(sql)} as prop_name, event, caused_by, trace_id, hops,
      exists (select from executions e where e.id = i.id) as has_begun
    from invocations i where id = ${id} and starts_with(id, 'exec_')
      and (${accountId ?? null}::text is null or account_id = ${accountId ?? null})`;
  if (row === undefined) return undefined;
  const { account_id: owner, source_id: workflowId, kind, event, has_begun: hasBegun } = row;
  const propName = row.prop_name ?? undefined;
  return { id, accountId: owner, workflowId, kind, propName, event, cause: causeOf(row), hasBegun };
}

/**
 * Ends an execution in any state: a step under way is not stored, and no other begins. `described`:
 * the content of its row if it has none. It is made before: waiting for a second connection while
 * holding one and the execution would block other cancellations. `accountId`: the caller's; absent
 * for a caller with the execution's URL. Returns whether this call made its row; undefined if there
 * is nothing to cancel.
 */
export async function cancelExecution(
  sql: Sql,
  { id, accountId }: { id: string; accountId?: string },
  described: { deploymentId: string; context: string } | undefined,
): Promise<{ isDescribed: boolean } | undefined> {
  return sql.begin(async (tx) => {
    const [row] = await tx<Row[]>`
      delete from invocations i where id = ${id} and starts_with(id, 'exec_')
        and (${accountId ?? null}::text is null or account_id = ${accountId ?? null})
      returning account_id, source_id, kind, ${propNameOf(tx)} as prop_name, event, caused_by, trace_id, hops`;
    if (row === undefined) return undefined;
    const ended = await tx`
      update executions set status = 'cancelled', ended_at = now(), ended_in = pg_current_xact_id() where id = ${id}`;
    const isDescribed = ended.count === 0 && described !== undefined;
    if (isDescribed) await insertCancelled(tx, id, row, described);
    await cancelSteps(tx, id);
    await tx`delete from execution_waits where execution_id = ${id}`;
    await tx`select graphile_worker.remove_job(${wakeJobKey(id)})`;
    // If executions take turns, the next one may start now.
    await addRunLanes(tx, [row.source_id]);
    return { isDescribed };
  });
}

/**
 * It was cancelled, or its workflow was deleted: no node goes on with it, and none has ended it.
 */
export async function isExecutionGone(sql: Sql, id: string): Promise<boolean> {
  const rows = await sql`
    select from invocations where id = ${id}
    union all select from executions where id = ${id} and status <> 'cancelled'`;
  return rows.length === 0;
}

/** Cancels its waiting steps, and steps that would run again. */
async function cancelSteps(tx: Transaction, id: string): Promise<void> {
  await tx`
    update execution_steps set status = 'cancelled' where execution_id = ${id} and status in ('waiting', 'rerun')`;
}

async function insertCancelled(
  tx: Transaction,
  id: string,
  row: Row,
  { deploymentId, context }: { deploymentId: string; context: string },
): Promise<void> {
  await tx`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, caused_by, trace_id,
      started_at, ended_at)
    values (${id}, ${row.account_id}, ${row.source_id}, ${deploymentId}, ${row.kind}, 'cancelled', ${row.event}, ${context},
      ${row.caused_by}, ${row.trace_id ?? id}, now(), now())`;
}
