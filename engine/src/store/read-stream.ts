import { LIMITS } from '@headwater/shared';
import type { EventRecord } from '../contract.ts';
import type { EventPosition } from '../events/event-id.ts';
import type { Sql } from './database.ts';
import { eventColumns, eventRecord, type EventRow } from './read-events.ts';

/** The newest positions of those that are there: of an emitter that was deleted, or never was, there is none. */
export async function readLastPositions(sql: Sql, emitterIds: readonly string[]): Promise<Map<string, EventPosition>> {
  const rows = await sql<{ emitter_id: string; ms: number; seq: number }[]>`
    select emitter_id, last_event_ms as ms, last_event_seq as seq from emitter_state
    where emitter_id = any(${[...emitterIds]}::text[])`;
  return new Map(rows.map(({ emitter_id: id, ms, seq }) => [id, { ms, seq }]));
}

/** Absent: all channels that a stream without a channel has. */
type Channel = string | undefined;

const ofStream = (sql: Sql, channel: Channel) =>
  channel === undefined
    ? sql`(channel not like '$%' or channel = '$sse')`
    : sql`channel = any(${[channel, '$sse']}::text[])`;

/** The position after which the newest `count` events are. */
export async function readReplayStart(
  sql: Sql,
  accountId: string,
  emitterId: string,
  { channel, count }: { channel: Channel; count: number },
): Promise<EventPosition> {
  const [row] = await sql<{ indexed_at_ms: number; seq: number }[]>`
    select indexed_at_ms, seq from events
    where account_id = ${accountId} and emitter_id = ${emitterId} and ${ofStream(sql, channel)}
    order by indexed_at_ms desc, seq desc offset ${count} limit 1`;
  return row === undefined ? { ms: 0, seq: 0 } : { ms: row.indexed_at_ms, seq: row.seq };
}

/**
 * The events after a position, oldest first: so many, and so many bytes of data (but one event at least), as one turn of a
 * stream takes. `isFull`: there are more.
 */
export async function readEventsAfter(
  sql: Sql,
  accountId: string,
  emitterId: string,
  { channel, after, expand }: { channel: Channel; after: EventPosition; expand: boolean },
): Promise<{ items: EventRecord[]; isFull: boolean }> {
  const maxBytes = expand ? null : LIMITS.summaryEventBytes;
  const rows = await sql<(EventRow & { found: number })[]>`
    with slice as (
      select ${eventColumns(sql)}, data from events
      where account_id = ${accountId} and emitter_id = ${emitterId} and ${ofStream(sql, channel)}
        and (indexed_at_ms, seq) > (${after.ms}::int8, ${after.seq}::int4)
      order by indexed_at_ms, seq limit ${LIMITS.streamBatchEvents + 1}
    ), measured as (
      select *, channel <> '$sse' and octet_length(data) > ${maxBytes}::int4 as is_cut, count(*) over () as found,
        sum(octet_length(data)) over (order by indexed_at_ms, seq) - octet_length(data) as bytes_before
      from slice
    )
    select ${eventColumns(sql)}, coalesce(is_cut, false) as is_cut, found,
      case when is_cut then left(data, ${LIMITS.summaryEventBytes}::int4) else data end as data
    from measured where bytes_before < ${LIMITS.streamBatchBytes}::int8
    order by indexed_at_ms, seq limit ${LIMITS.streamBatchEvents}`;
  return { items: rows.map((row) => eventRecord(emitterId, row)), isFull: rows.length < (rows[0]?.found ?? 0) };
}
