import { LIMITS } from '@headwater/shared';
import type { EventRecord } from '../contract.ts';
import { formatEventId } from '../events/event-id.ts';
import type { Sql } from './database.ts';

interface Row {
  indexed_at_ms: number;
  seq: number;
  channel: string;
  emit_id: string | null;
  summary: string | null;
  ts: number | null;
  data: string;
  is_cut: boolean;
}

/**
 * The emitter's newest events, newest first, but for the built-in channels (`$errors`, `$logs`). Data is cut in the
 * database: what an answer does not show is not brought into memory. See Sources.events.
 */
export async function readEvents(
  sql: Sql,
  accountId: string,
  emitterId: string,
  { limit, expand }: { limit: number; expand: boolean },
): Promise<EventRecord[]> {
  const wholeBytes = expand ? LIMITS.maxSummariesBytes : 0;
  const rows = await sql<Row[]>`
    with newest as (
      select indexed_at_ms, seq, channel, emit_id, summary, ts, data, octet_length(data) as bytes
      from events where account_id = ${accountId} and emitter_id = ${emitterId} and channel not like '$%'
      order by indexed_at_ms desc, seq desc limit ${limit}
    ), measured as (
      select *, bytes > ${LIMITS.summaryEventBytes}::int4
        and sum(bytes) over (order by indexed_at_ms desc, seq desc) > ${wholeBytes}::int8 as is_cut from newest
    )
    -- One character is one byte at least: what is left of a cut one is brought to bytes later.
    select indexed_at_ms, seq, channel, emit_id, summary, ts, is_cut,
      case when is_cut then left(data, ${LIMITS.summaryEventBytes}::int4) else data end as data
    from measured order by indexed_at_ms desc, seq desc`;
  return rows.map((row) => ({
    id: formatEventId({ ms: row.indexed_at_ms, seq: row.seq }),
    indexedAtMs: row.indexed_at_ms,
    emitterId,
    channel: row.channel,
    data: row.data,
    ...(row.is_cut ? { isCut: true } : {}),
    ...(row.emit_id === null ? {} : { emitId: row.emit_id }),
    ...(row.summary === null ? {} : { summary: row.summary }),
    ...(row.ts === null ? {} : { ts: row.ts }),
  }));
}
