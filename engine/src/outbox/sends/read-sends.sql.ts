import type { AttemptRecord, SendRecord } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';

interface Row {
  id: string;
  kind: SendRecord['kind'];
  workflow_id: string;
  execution_id: string;
  trace_id: string;
  status: SendRecord['status'];
  payload: string;
  object_key: string | null;
  attempts: AttemptRecord[];
  next_attempt_ms: number;
  created_ms: number;
}

/** Those of `ids` that are the account's, in no order. */
export async function readSends(sql: Sql, accountId: string, ids: readonly string[]): Promise<SendRecord[]> {
  const rows = await sql<Row[]>`
    select id, kind, workflow_id, execution_id, trace_id, status, payload, object_key, attempts,
      extract(epoch from next_attempt_at)::float8 * 1000 as next_attempt_ms,
      extract(epoch from created_at)::float8 * 1000 as created_ms
    from sends where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return rows.map(recordOf);
}

function recordOf(row: Row): SendRecord {
  const { id, kind, status, payload, attempts } = row;
  return {
    id,
    kind,
    workflowId: row.workflow_id,
    executionId: row.execution_id,
    traceId: row.trace_id,
    status,
    payload,
    ...(row.object_key === null ? {} : { objectKey: row.object_key }),
    attempts,
    ...(status === 'pending' ? { nextAttemptAt: new Date(row.next_attempt_ms) } : {}),
    createdAt: new Date(row.created_ms),
  };
}

/** Whether the account has that execution: ended, waiting or still to run. */
export async function executionExists(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from executions where id = ${id} and account_id = ${accountId})
      or exists (select from invocations where id = ${id} and account_id = ${accountId}) as found`;
  return row?.found ?? false;
}
