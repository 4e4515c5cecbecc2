import type { CallerTrace } from '../contract/index.ts';
import { rowsOf, type Sql } from '../db/index.ts';

export interface NewTraceContext extends CallerTrace {
  /** The invocation that the trace begins with. */
  id: string;
  accountId: string;
}

export async function insertTraceContexts(sql: Sql, rows: readonly NewTraceContext[]): Promise<void> {
  await sql`
    insert into trace_contexts (id, account_id, traceparent, tracestate)
    select * from ${rowsOf(sql, [
      ['text', rows.map((row) => row.id)],
      ['text', rows.map((row) => row.accountId)],
      ['text', rows.map((row) => row.traceparent)],
      ['text', rows.map((row) => row.tracestate ?? null)],
    ])} as r(id, account_id, traceparent, tracestate)
    on conflict do nothing`;
}

/** A caller's trace for each id, in their order; undefined where there is none. */
export async function readTraceContexts(
  sql: Sql,
  keys: readonly { accountId: string; id: string }[],
): Promise<(CallerTrace | undefined)[]> {
  const rows = await sql<{ id: string; account_id: string; traceparent: string; tracestate: string | null }[]>`
    select id, account_id, traceparent, tracestate from trace_contexts
    where id = any(${keys.map(({ id }) => id)}::text[])`;
  const found = new Map(rows.map((row) => [`${row.account_id} ${row.id}`, row]));
  return keys.map(({ accountId, id }) => {
    const row = found.get(`${accountId} ${id}`);
    if (row === undefined) return undefined;
    const { traceparent, tracestate } = row;
    return tracestate === null ? { traceparent } : { traceparent, tracestate };
  });
}
