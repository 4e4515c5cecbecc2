import { LIMITS } from '@headwater/shared';
import type { AbandonedRunRecord } from '../contract/runs.ts';
import type { Sql } from '../db/database.ts';
import { cutJson, isCut, shown } from '../db/shown-json.ts';

interface Row {
  id: string;
  source_id: string;
  kind: string;
  caused_by: string | null;
  trace_id: string | null;
  event: string;
  event_is_cut: boolean;
  error_message: string;
  abandoned_ms: number;
}

/**
 * Those of `ids` that are the account's, in no order. Events are cut beyond
 * LIMITS.summaryEventBytes.
 */
export async function readAbandonedRuns(
  sql: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<AbandonedRunRecord[]> {
  const rows = await sql<Row[]>`
    select id, source_id, kind, caused_by, trace_id, error_message,
      extract(epoch from abandoned_at)::float8 * 1000 as abandoned_ms,
      ${cutJson(sql, sql`event`, LIMITS.summaryEventBytes)} as event,
      ${isCut(sql, sql`event`, LIMITS.summaryEventBytes)} as event_is_cut
    from abandoned_runs where account_id = ${accountId} and id = any(${[...ids]}::text[])`;
  return rows.map((row) => ({
    id: row.id,
    sourceId: row.source_id,
    kind: row.kind,
    ...(row.caused_by === null ? {} : { causedBy: row.caused_by }),
    traceId: row.trace_id ?? row.id,
    event: shown(row.event, row.event_is_cut),
    message: row.error_message,
    abandonedAt: new Date(row.abandoned_ms),
  }));
}
