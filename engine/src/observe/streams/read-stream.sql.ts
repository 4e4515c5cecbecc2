import { LIMITS } from '@headwater/shared';
import type { EventRecord } from '../../contract/index.ts';
import { eventColumns, type EventPosition, eventRecord, type EventRow, parseEventId } from '../../events/index.ts';
import type { Sql } from '../../db/index.ts';

/** The newest positions of those emitters that exist. */
export async function readLastPositions(sql: Sql, emitterIds: readonly string[]): Promise<Map<string, EventPosition>> {
  const rows = await sql<{ emitter_id: string; ms: number; seq: number }[]>`
    select emitter_id, last_event_ms as ms, last_event_seq as seq from emitter_state
    where emitter_id = any(${[...emitterIds]}::text[])`;
  return new Map(rows.map(({ emitter_id: id, ms, seq }) => [id, { ms, seq }]));
}

/** Absent: all channels that a stream without a channel has. */
type Channel = string | undefined;

/**
 * Includes events that `$.send.sse` has sent to the channel. Only the beginning of their data is
 * compared, since it may be long.
 */
function ofStream(sql: Sql, channel: Channel) {
  if (channel === undefined) return sql`(channel not like '$%' or channel = '$sse')`;
  const sent = `{"channel":${JSON.stringify(channel)},"payload":`;
  return sql`(channel = ${channel} or channel = '$sse' and left(data, char_length(${sent}::text)) = ${sent})`;
}

/**
 * The position after which the newest `count` events of the channel are, among the newest
 * maxStreamScanEvents of the emitter: behind millions of others they would be looked for for
 * seconds.
 */
export async function readReplayStart(
  sql: Sql,
  accountId: string,
  emitterId: string,
  { channel, count }: { channel: Channel; count: number },
): Promise<EventPosition> {
  type Row = { ms: number; seq: number };
  const newest = sql`
    select indexed_at_ms as ms, seq, channel, data from events
    where account_id = ${accountId} and emitter_id = ${emitterId}
    order by indexed_at_ms desc, seq desc`;
  const [start] = await sql<Row[]>`
    select ms, seq from (${newest} limit ${LIMITS.maxStreamScanEvents}) as newest where ${ofStream(sql, channel)}
    order by ms desc, seq desc offset ${count} limit 1`;
  if (start !== undefined) return start;
  const [end] = await sql<Row[]>`
    select ms, seq from (${newest} offset ${LIMITS.maxStreamScanEvents} limit 1) as newest`;
  return end ?? { ms: 0, seq: 0 };
}

interface ReadOn {
  items: EventRecord[];
  /** There are more. */
  isFull: boolean;
  /**
   * Position where the scan stopped; the rest is unknown. Absent: the scan saw everything, or the
   * batch is full.
   */
  lookedUpTo?: EventPosition;
}

/**
 * The events after a position, oldest first, among the emitter's next maxStreamScanEvents. At most
 * as many events and bytes as one turn of a stream takes, but at least one event.
 */
export async function readEventsAfter(
  sql: Sql,
  accountId: string,
  emitterId: string,
  { channel, after, expand }: { channel: Channel; after: EventPosition; expand: boolean },
): Promise<ReadOn> {
  const maxBytes = expand ? null : LIMITS.summaryEventBytes;
  const next = sql`
    select * from events
    where account_id = ${accountId} and emitter_id = ${emitterId}
      and (indexed_at_ms, seq) > (${after.ms}::int8, ${after.seq}::int4)
    order by indexed_at_ms, seq`;
  const rows = await sql<(((EventRow & { found: number }) | { found: null }) & { looked_up_to: string | null })[]>`
    with slice as (
      select ${eventColumns(sql)}, data from (${next} limit ${LIMITS.maxStreamScanEvents}) as next
      where ${ofStream(sql, channel)}
      order by indexed_at_ms, seq limit ${LIMITS.streamBatchEvents + 1}
    ), measured as (
      select *, channel <> '$sse' and octet_length(data) > ${maxBytes}::int4 as is_cut, count(*) over () as found,
        sum(octet_length(data)) over (order by indexed_at_ms, seq) - octet_length(data) as bytes_before
      from slice
    ), shown as (
      select ${eventColumns(sql)}, coalesce(is_cut, false) as is_cut, found,
        case when is_cut then left(data, ${LIMITS.summaryEventBytes}::int4) else data end as data
      from measured where bytes_before < ${LIMITS.streamBatchBytes}::int8
      order by indexed_at_ms, seq limit ${LIMITS.streamBatchEvents}
    )
    select shown.*, case when (select count(*) from slice) <= ${LIMITS.streamBatchEvents} then (
        select indexed_at_ms || '-' || seq from (${next} offset ${LIMITS.maxStreamScanEvents - 1} limit 1) as last
      ) end as looked_up_to
    from (values (1)) as one left join shown on true
    order by indexed_at_ms, seq`;

  const found = rows.filter((row) => row.found !== null);
  const items = found.map((row) => eventRecord(emitterId, row));
  const isFull = found.length < (found[0]?.found ?? 0);
  const lookedUpTo = isFull ? undefined : parseEventId(rows[0]?.looked_up_to ?? '');
  return { items, isFull, ...(lookedUpTo === undefined ? {} : { lookedUpTo }) };
}
