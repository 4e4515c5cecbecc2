import { LIMITS } from '@headwater/shared';
import { storableText } from '../../events/index.ts';
import type { NewSend } from './new-send.ts';
import { readS3Target } from '../transports/s3/s3-payload.ts';
import { type JobSpec, rowsOf, type Sql, type Transaction } from '../../db/index.ts';
import { cancelNote } from '../cancel-note.ts';
import { laterSendLane, sendLane } from './send-lane.ts';

/**
 * Stores what executions have sent, in the transaction that ends them; undefined where there is
 * nothing to write. The jobs of sendLanesOf belong into the same transaction. A payload for S3 that
 * names no usable bucket has failed at once.
 */
export function insertSends(connection: Sql | Transaction, sends: readonly NewSend[], nowMs: number) {
  if (sends.length === 0) return undefined;
  const rows = inOrder(sends).map((send) => rowOf(send, nowMs));
  return connection`
    insert into sends (id, account_id, workflow_id, execution_id, trace_id, kind, payload, sealed, bucket, prefix, unit_id,
      status, attempts, next_attempt_at)
    select id, account_id, workflow_id, execution_id, trace_id, kind, payload, sealed, bucket, prefix, unit_id,
      case when problem is null then 'pending' else 'failed' end,
      case when problem is null then '[]' else jsonb_build_array(problem::jsonb) end, to_timestamp(due_ms / 1000.0)
    from ${rowsOf(connection, [
      ['text', rows.map((row) => row.id)],
      ['text', rows.map((row) => row.accountId)],
      ['text', rows.map((row) => row.workflowId)],
      ['text', rows.map((row) => row.executionId)],
      ['text', rows.map((row) => row.traceId)],
      ['text', rows.map((row) => row.kind)],
      ['text', rows.map((row) => row.bucket ?? null)],
      ['text', rows.map((row) => row.prefix ?? null)],
      ['text', rows.map((row) => row.unitId ?? null)],
      ['text', rows.map((row) => row.problem ?? null)],
      ['float8', rows.map((row) => row.dueMs)],
      ['long', rows.map((row) => row.sealed ?? null)],
      ['long', rows.map((row) => storableText(row.payload))],
    ])} as s(id, account_id, workflow_id, execution_id, trace_id, kind, bucket, prefix, unit_id, problem, due_ms, sealed, payload)`;
}

/** One job for each account, at once and for its next upload. */
export function sendLanesOf(sends: readonly NewSend[], nowMs: number): JobSpec[] {
  const lanes = sends.map(({ accountId, kind }) =>
    kind === 's3' ? laterSendLane(accountId, nextUploadMs(nowMs)) : sendLane(accountId),
  );
  return [...new Map(lanes.map((lane) => [lane.key, lane])).values()];
}

/**
 * Ids of one millisecond have no order of their own: those of one execution are given out in the
 * order of its sends.
 */
function inOrder(sends: readonly NewSend[]): NewSend[] {
  const byExecution = [...Map.groupBy(sends, ({ executionId }) => executionId).values()];
  return byExecution.flatMap((own) => {
    const ids = own.map(({ id }) => id).toSorted();
    return own.map((send, at) => ({ ...send, id: ids[at] ?? send.id }));
  });
}

interface Row extends NewSend {
  bucket?: string;
  prefix?: string;
  unitId?: string;
  problem?: string;
  dueMs: number;
}

function rowOf(send: NewSend, nowMs: number): Row {
  if (send.kind !== 's3') return { ...send, unitId: send.id, dueMs: nowMs };
  const target = readS3Target(send.payload);
  const due = { ...send, dueMs: nextUploadMs(nowMs) };
  return target.ok ? { ...due, ...target.value } : { ...due, problem: cancelNote(target.message, nowMs, target.limit) };
}

/**
 * End of the current upload interval, in epoch milliseconds. All sends of one interval go into one
 * object.
 */
export function nextUploadMs(nowMs: number): number {
  return (Math.floor(nowMs / LIMITS.s3UploadIntervalMs) + 1) * LIMITS.s3UploadIntervalMs;
}
