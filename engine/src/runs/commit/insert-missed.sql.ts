import type { MissedRow } from './missed.ts';
import type { Sql } from '../../db/database.ts';

export function insertMissed(connection: Sql, rows: readonly MissedRow[]) {
  if (rows.length === 0) return undefined;
  return connection`
    insert into missed_events (emitter_id, ms, seq, account_id, reason, invocation_id, trace_id, listener_id, channel,
      from_seq, to_seq, emit_ids, dedupe, missed)
    select emitter_id, ms, seq, account_id, reason, invocation_id, trace_id, listener_id, channel, from_seq, to_seq,
      emit_ids, dedupe, missed
    from unnest(
      ${rows.map((row) => row.emitterId)}::text[], ${rows.map((row) => row.position.ms)}::int8[],
      ${rows.map((row) => row.position.seq)}::int4[], ${rows.map((row) => row.accountId)}::text[],
      ${rows.map((row) => row.reason)}::text[], ${rows.map((row) => row.invocationId)}::text[],
      ${rows.map((row) => row.traceId)}::text[], ${rows.map((row) => row.listenerId)}::text[],
      ${rows.map((row) => row.channel)}::text[], ${rows.map((row) => row.fromSeq)}::int4[],
      ${rows.map((row) => row.toSeq)}::int4[], ${rows.map((row) => JSON.stringify(row.emitIds))}::text[],
      ${rows.map((row) => row.dedupe)}::text[],
      ${rows.map((row) => row.count)}::int4[]
    ) as m(emitter_id, ms, seq, account_id, reason, invocation_id, trace_id, listener_id, channel, from_seq, to_seq,
      emit_ids, dedupe, missed)`;
}
