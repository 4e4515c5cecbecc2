import { causeOf, type EventCause } from '../../events/index.ts';
import type { PassedStep } from '../run/execution-context.ts';
import { PASSED_STATUSES } from '../run/passed-steps.ts';
import type { Sql } from '../../db/index.ts';

/** Past data that a test of a workflow uses. */
export interface TestEvent {
  /** JSON text. */
  event: string;
  cause?: EventCause | undefined;
  /**
   * JSON text: what the execution had as `steps.trigger.context`; absent for one that has not
   * begun, and for an event.
   */
  context?: string;
  /** Steps that it has completed. */
  steps: PassedStep[];
}

interface ExecutionColumns {
  event: string;
  context: string | null;
  caused_by: string | null;
  trace_id: string | null;
  hops: number;
}

/** Reads an execution of the workflow, whether it has ended, waits, runs or is queued. */
export async function readExecutionForTest(
  sql: Sql,
  key: { accountId: string; workflowId: string; id: string },
): Promise<TestEvent | undefined> {
  const { accountId, workflowId, id } = key;
  const [found] = await sql<ExecutionColumns[]>`
    select event, context, caused_by, trace_id, 0 as hops from executions
    where id = ${id} and account_id = ${accountId} and workflow_id = ${workflowId}
    union all
    select event, null, caused_by, trace_id, hops from invocations
    where id = ${id} and account_id = ${accountId} and source_id = ${workflowId}
    limit 1`;
  if (found === undefined) return undefined;
  const steps = await sql<TestEvent['steps']>`
    select namespace, status, exports, value, error from execution_steps
    where execution_id = ${id} and account_id = ${accountId} and status = any(${[...PASSED_STATUSES]}::text[])
    order by position`;
  const { event, context } = found;
  return { event, cause: causeOf(found), ...(context === null ? {} : { context }), steps };
}

/**
 * `emitId` is `<emitter id>-<event id>`, of an event that a source or workflow of the account
 * emitted.
 */
export async function readEventForTest(sql: Sql, accountId: string, emitId: string): Promise<TestEvent | undefined> {
  const [, emitterId = '', ms = '', seq = ''] = /^(.+)-(\d{1,15})-(\d{1,9})$/.exec(emitId) ?? [];
  if (emitterId === '') return undefined;
  const [found] = await sql<{ data: string; trace_id: string | null; invocation_id: string | null }[]>`
    select data, trace_id, invocation_id from events
    where account_id = ${accountId} and emitter_id = ${emitterId} and indexed_at_ms = ${ms}::int8 and seq = ${seq}::int4`;
  if (found === undefined) return undefined;
  const traceId = found.trace_id ?? found.invocation_id;
  const cause = { event: emitId, hops: 0, ...(traceId === null ? {} : { traceId }) };
  return { event: found.data, cause, steps: [] };
}
