import { LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import type { EventRecord } from '../contract.ts';
import { type EventPosition, formatEventId } from '../events/event-id.ts';
import type { Sql } from './database.ts';

export interface EventRow {
  indexed_at_ms: number;
  seq: number;
  channel: string;
  invocation_id: string | null;
  caused_by: string | null;
  trace_id: string | null;
  emit_id: string | null;
  summary: string | null;
  ts: number | null;
  data: string;
  is_cut: boolean;
}

/** Which of an emitter's events. */
export interface EventRange {
  /** One channel, '' being the default one; absent: all but the built-in ones (`$errors`, `$logs`). */
  channel?: string;
  /** Both included. */
  start?: EventPosition;
  end?: EventPosition;
}

export interface EventSlice extends EventRange {
  limit: number;
  expand: boolean;
  /** Neither is included. `after` goes on to older events, `before` answers the ones that are just newer. */
  after?: EventPosition;
  before?: EventPosition;
}

/**
 * Events of an emitter, newest first. Data is cut in the database: what an answer does not show is not brought into memory.
 * See Events.recent.
 */
export async function readEvents(
  sql: Sql,
  accountId: string,
  emitterId: string,
  { limit, expand, after, before, ...range }: EventSlice,
): Promise<EventRecord[]> {
  const wholeBytes = expand ? LIMITS.maxSummariesBytes : 0;
  const isUpward = before !== undefined && after === undefined;
  const order = isUpward ? sql`indexed_at_ms, seq` : sql`indexed_at_ms desc, seq desc`;
  const rows = await sql<EventRow[]>`
    with slice as (
      select indexed_at_ms, seq, channel, invocation_id, caused_by, trace_id, emit_id, summary, ts, data,
        octet_length(data) as bytes
      from events where ${inRange(sql, accountId, emitterId, range)}
        ${after === undefined ? sql`` : sql`and (indexed_at_ms, seq) < ${positionOf(sql, after)}`}
        ${before === undefined ? sql`` : sql`and (indexed_at_ms, seq) > ${positionOf(sql, before)}`}
      order by ${order} limit ${limit}
    ), measured as (
      select *, bytes > ${LIMITS.summaryEventBytes}::int4
        and sum(bytes) over (order by indexed_at_ms desc, seq desc) > ${wholeBytes}::int8 as is_cut from slice
    )
    -- One character is one byte at least: what is left of a cut one is brought to bytes later.
    select ${eventColumns(sql)}, is_cut,
      case when is_cut then left(data, ${LIMITS.summaryEventBytes}::int4) else data end as data
    from measured order by indexed_at_ms desc, seq desc`;
  return rows.map((row) => eventRecord(emitterId, row));
}

/** All but the data. */
export function eventColumns(sql: Sql): Fragment {
  return sql`indexed_at_ms, seq, channel, invocation_id, caused_by, trace_id, emit_id, summary, ts`;
}

/** How many there are; stops counting at `max`. */
export async function countEvents(
  sql: Sql,
  accountId: string,
  emitterId: string,
  range: EventRange,
  max: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from (
      select from events where ${inRange(sql, accountId, emitterId, range)} limit ${max}
    ) as counted`;
  return row?.count ?? 0;
}

/** The position of the `n`th event, counted from the newest; undefined where there are fewer. */
export async function findNthEvent(
  sql: Sql,
  accountId: string,
  emitterId: string,
  range: EventRange,
  n: number,
): Promise<EventPosition | undefined> {
  const [row] = await sql<{ ms: number; seq: number }[]>`
    select indexed_at_ms as ms, seq from events where ${inRange(sql, accountId, emitterId, range)}
    order by indexed_at_ms desc, seq desc offset ${n - 1} limit 1`;
  return row;
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

function inRange(sql: Sql, accountId: string, emitterId: string, { channel, start, end }: EventRange): Fragment {
  return sql`account_id = ${accountId} and emitter_id = ${emitterId}
    and ${channel === undefined ? sql`channel not like '$%'` : sql`channel = ${channel}`}
    ${start === undefined ? sql`` : sql`and (indexed_at_ms, seq) >= ${positionOf(sql, start)}`}
    ${end === undefined ? sql`` : sql`and (indexed_at_ms, seq) <= ${positionOf(sql, end)}`}`;
}

function positionOf(sql: Sql, { ms, seq }: EventPosition): Fragment {
  return sql`(${ms}::int8, ${seq}::int4)`;
}

export function eventRecord(emitterId: string, row: EventRow): EventRecord {
  const traceId = row.trace_id ?? row.invocation_id;
  return {
    id: formatEventId({ ms: row.indexed_at_ms, seq: row.seq }),
    indexedAtMs: row.indexed_at_ms,
    emitterId,
    channel: row.channel,
    data: row.data,
    ...(row.is_cut ? { isCut: true } : {}),
    ...(row.emit_id === null ? {} : { emitId: row.emit_id }),
    ...(row.summary === null ? {} : { summary: row.summary }),
    ...(row.ts === null ? {} : { ts: row.ts }),
    ...(row.caused_by === null ? {} : { causedBy: row.caused_by }),
    ...(traceId === null ? {} : { traceId }),
  };
}
