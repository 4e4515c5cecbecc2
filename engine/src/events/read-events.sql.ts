import { LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import type { EventRecord } from '../contract/index.ts';
import { type EventPosition, formatEventId } from './event-id.ts';
import type { Sql, Transaction } from '../db/index.ts';

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
  /**
   * One channel, '' being the default one; absent: all but the built-in ones (`$errors`, `$logs`).
   */
  channel?: string;
  /** Both included. */
  start?: EventPosition;
  end?: EventPosition;
}

export interface EventSlice extends EventRange {
  limit: number;
  expand: boolean;
  /**
   * Neither is included. `after` goes on to older events, `before` answers the ones that are just
   * newer.
   */
  after?: EventPosition;
  before?: EventPosition;
}

/**
 * Runs a transaction that scans rows in the order of an index and stops early. Before a table is
 * analyzed, Postgres may take an emitter or webhook for a small one. It would then read and sort
 * all its rows.
 */
export async function inIndexOrder<T>(sql: Sql, look: (tx: Transaction) => Promise<T>): Promise<T> {
  return sql.begin((tx) => lookInIndexOrder(tx, look)) as Promise<T>;
}

/** As above, in a transaction that goes on to look for other things. */
export async function lookInIndexOrder<T>(tx: Transaction, look: (tx: Transaction) => Promise<T>): Promise<T> {
  await tx`set local enable_sort = off`;
  const found = await look(tx);
  await tx`set local enable_sort = on`;
  return found;
}

/** All of its statements see the rows of one moment. */
export async function inOneSnapshot<T>(sql: Sql, look: (tx: Transaction) => Promise<T>): Promise<T> {
  return sql.begin(async (tx) => {
    await tx`set transaction isolation level repeatable read, read only`;
    return look(tx);
  }) as Promise<T>;
}

/**
 * For reads in several statements on one snapshot: each continues where the previous one stopped,
 * whatever is added or deleted meanwhile.
 */
export function readInIndexOrder<T>(sql: Sql, look: (tx: Transaction) => Promise<T>): Promise<T> {
  return inIndexOrder(sql, async (tx) => {
    await tx`set transaction isolation level repeatable read`;
    return look(tx);
  });
}

interface EventsRead {
  items: EventRecord[];
  /**
   * It stopped to look here, having seen LIMITS.maxScannedEvents. Absent: it has found as many as
   * were asked for, or all.
   */
  lookedUpTo?: EventPosition;
}

/**
 * Events of an emitter, newest first. Data is cut in the database: what an answer does not show is
 * not brought into memory. See Events.recent.
 */
export async function readEvents(
  sql: Transaction,
  accountId: string,
  emitterId: string,
  { limit, expand, after, before, ...range }: EventSlice,
): Promise<EventsRead> {
  const wholeBytes = expand ? LIMITS.maxSummariesBytes : 0;
  const isUpward = before !== undefined && after === undefined;
  const order = isUpward ? sql`indexed_at_ms, seq` : sql`indexed_at_ms desc, seq desc`;
  const next = sql`
    select * from events where ${inRange(sql, accountId, emitterId, range)}
      ${after === undefined ? sql`` : sql`and (indexed_at_ms, seq) < ${positionOf(sql, after)}`}
      ${before === undefined ? sql`` : sql`and (indexed_at_ms, seq) > ${positionOf(sql, before)}`}
    order by ${order}`;
  const rows = await sql<EventRow[]>`
    with slice as (
      select indexed_at_ms, seq, channel, invocation_id, caused_by, trace_id, emit_id, summary, ts, data,
        octet_length(data) as bytes
      from (${next} ${scanLimit(sql, range)}) as next where ${ofChannel(sql, range)}
      order by ${order} limit ${limit}
    ), measured as (
      select *, bytes > ${LIMITS.summaryEventBytes}::int4
        and sum(bytes) over (order by indexed_at_ms desc, seq desc) > ${wholeBytes}::int8 as is_cut from slice
    )
    -- One character is one byte at least: what is left of a cut one is brought to bytes later.
    select ${eventColumns(sql)}, is_cut,
      case when is_cut then left(data, ${LIMITS.summaryEventBytes}::int4) else data end as data
    from measured order by indexed_at_ms desc, seq desc`;
  const items = rows.map((row) => eventRecord(emitterId, row));
  if (items.length === limit || hasIndex(range)) return { items };
  const [last] = await sql<EventPosition[]>`
    select indexed_at_ms as ms, seq from (${next} offset ${LIMITS.maxScannedEvents - 1} limit 1) as last`;
  return { items, ...(last && { lookedUpTo: last }) };
}

/** All but the data. */
export function eventColumns(sql: Sql | Transaction): Fragment {
  return sql`indexed_at_ms, seq, channel, invocation_id, caused_by, trace_id, emit_id, summary, ts`;
}

/**
 * How many there are, among the newest LIMITS.maxScannedEvents where the channel has no index;
 * stops counting at `max`.
 */
export async function countEvents(
  sql: Transaction,
  accountId: string,
  emitterId: string,
  range: EventRange,
  max: number,
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from (
      select from (${newest(sql, accountId, emitterId, range)} ${scanLimit(sql, range)}) as newest
      where ${ofChannel(sql, range)} limit ${max}
    ) as counted`;
  return row?.count ?? 0;
}

/**
 * The position of the `n`th event, counted from the newest. If the newest LIMITS.maxScannedEvents
 * have fewer, the position of the oldest of these, of any channel. Undefined if there are fewer
 * than `n` in all.
 */
export async function findNthEvent(
  sql: Transaction,
  accountId: string,
  emitterId: string,
  range: EventRange,
  n: number,
): Promise<EventPosition | undefined> {
  const all = newest(sql, accountId, emitterId, range);
  const [row] = await sql<EventPosition[]>`
    select ms, seq from (${all} ${scanLimit(sql, range)}) as newest where ${ofChannel(sql, range)}
    order by ms desc, seq desc offset ${n - 1} limit 1`;
  if (row !== undefined || hasIndex(range)) return row;
  const [last] = await sql<EventPosition[]>`
    select ms, seq from (${all} offset ${LIMITS.maxScannedEvents - 1} limit 1) as last`;
  return last;
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

function newest(sql: Transaction, accountId: string, emitterId: string, range: EventRange): Fragment {
  return sql`
    select indexed_at_ms as ms, seq, channel from events where ${inRange(sql, accountId, emitterId, range)}
    order by indexed_at_ms desc, seq desc`;
}

/** events_channel leads to them. */
const hasIndex = ({ channel }: EventRange) => channel !== undefined && channel !== '';

/**
 * Behind millions of other events it would be looked for for half a minute; an index would cost
 * each event (migration 0039).
 */
function scanLimit(sql: Transaction, range: EventRange): Fragment {
  return hasIndex(range) ? sql`` : sql`limit ${LIMITS.maxScannedEvents}`;
}

/** Channel condition for scanned rows; with an index, inRange already contains it. */
function ofChannel(sql: Transaction, { channel }: EventRange): Fragment {
  return channel === undefined ? sql`channel not like '$%'` : sql`channel = ${channel}`;
}

/** Filters by the channel only if it has an index. */
function inRange(sql: Transaction, accountId: string, emitterId: string, range: EventRange): Fragment {
  const { start, end } = range;
  return sql`account_id = ${accountId} and emitter_id = ${emitterId}
    ${hasIndex(range) ? sql`and ${ofChannel(sql, range)}` : sql``}
    ${start === undefined ? sql`` : sql`and (indexed_at_ms, seq) >= ${positionOf(sql, start)}`}
    ${end === undefined ? sql`` : sql`and (indexed_at_ms, seq) <= ${positionOf(sql, end)}`}`;
}

function positionOf(sql: Transaction, { ms, seq }: EventPosition): Fragment {
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
