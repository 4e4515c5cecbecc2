import type { InvocationKind } from '../run/invocation.ts';
import { causeOf } from '../events/cause.ts';
import type { EventCause } from '../events/cause.ts';
import type { Sql, Transaction } from './database.ts';
import { addRunLanes, propNameOf } from './insert-invocations.ts';
import { wakeJobKey } from './park-executions.ts';

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
 * Ends an execution wherever it is: of one that runs the step under way is not stored, and no other begins. `describe` says
 * what its row holds where it has none. Answers false where there is nothing to cancel. `accountId`: of whoever asks; absent
 * for who has its URL.
 */
export async function cancelExecution(
  sql: Sql,
  { id, accountId }: { id: string; accountId?: string },
  describe: (invocation: CancelledInvocation) => Promise<{ deploymentId: string; context: string }>,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const [row] = await tx<Row[]>`
      delete from invocations i where id = ${id} and starts_with(id, 'exec_')
        and (${accountId ?? null}::text is null or account_id = ${accountId ?? null})
      returning account_id, source_id, kind, ${propNameOf(tx)} as prop_name, event, caused_by, trace_id, hops`;
    if (row === undefined) return false;
    const { account_id: owner, source_id: workflowId, kind, event } = row;
    const propName = row.prop_name ?? undefined;
    const cause = causeOf(row);
    const ended = await tx`
      update executions set status = 'cancelled', ended_at = now(), ended_in = pg_current_xact_id() where id = ${id}`;
    if (ended.count === 0) {
      const described = await describe({ id, accountId: owner, workflowId, kind, propName, event, cause });
      await insertCancelled(tx, id, row, described);
    }
    await cancelSteps(tx, id);
    await tx`delete from execution_waits where execution_id = ${id}`;
    await tx`select graphile_worker.remove_job(${wakeJobKey(id)})`;
    // Where executions take turns, the next one may start now.
    await addRunLanes(tx, [workflowId]);
    return true;
  });
}

/** Nothing comes any more of what it waited for, after a step or to run it again. */
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
