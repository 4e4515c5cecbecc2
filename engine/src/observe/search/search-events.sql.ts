import { LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import type { EventRecord } from '../../contract/index.ts';
import { eventColumns, type EventPosition, eventRecord, type EventRow, readInIndexOrder } from '../../events/index.ts';
import type { Sql, Transaction } from '../../db/index.ts';

type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** The place of an event among those of all emitters. */
export interface EventPlace extends EventPosition {
  emitterId: string;
}

export interface EventSearch {
  accountId: string;
  /** Default: all of the account. */
  emitterId?: string;
  /**
   * '' is the default channel. Absent: all but the built-in ones or, for a named event, any
   * channel.
   */
  channel?: string;
  /** One event, or, of all emitters, those of this place. */
  position?: EventPosition;
  /** The id that the component gave. */
  emitId?: string;
  /** In the JSON of the data, or in the summary. */
  text?: string;
  /** Epoch milliseconds; the first is included, the other is not. */
  sinceMs?: number;
  untilMs?: number;
  /** Goes on to older events. */
  after?: EventPlace;
  limit: number;
  expand: boolean;
}

export interface FoundEvents {
  items: EventRecord[];
  /**
   * The search stopped here, at the maximum that one search may examine. Absent: it has found
   * `limit`, or all.
   */
  lookedUpTo?: EventPlace;
}

interface FoundRow extends EventRow {
  emitter_id: string | null;
  last_ms: number;
  last_seq: number;
  last_emitter_id: string;
  is_at_end: boolean;
}

/**
 * Events of an account, newest first. Each emitter's events are read in the order of its key, up to
 * a limit of rows per emitter and of bytes per search. So a search takes as long among ten million
 * events as among ten thousand.
 */
export function searchEvents(sql: Sql, search: EventSearch): Promise<FoundEvents> {
  return readInIndexOrder(sql, async (tx) => {
    // Most pages are full at once.
    const first = await look(tx, search, 2 * search.limit);
    if (first.lookedUpTo === undefined) return first;
    return look(tx, search, await scannedPerEmitter(tx, search));
  });
}

async function scannedPerEmitter(tx: Transaction, { accountId, emitterId }: EventSearch): Promise<number> {
  if (emitterId !== undefined) return LIMITS.maxScannedEvents;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from emitters where account_id = ${accountId}`;
  const each = Math.floor(LIMITS.maxScannedEvents / Math.max(1, row?.count ?? 1));
  return Math.max(LIMITS.minScannedEvents, each);
}

async function look(tx: Transaction, search: EventSearch, scanned: number): Promise<FoundEvents> {
  const { limit, expand } = search;
  const order = tx`indexed_at_ms desc, seq desc, emitter_id desc`;
  const wholeBytes = expand ? LIMITS.maxSummariesBytes : 0;
  const rows = await tx<FoundRow[]>`
    with looked as materialized (
      select l.* from (
        select id, account_id from emitters union all select id, id from accounts
      ) as m cross join lateral (
        select emitter_id, indexed_at_ms, seq, channel, summary, emit_id, octet_length(data) as bytes from events
        where emitter_id = m.id and ${inRange(tx, search)} order by indexed_at_ms desc, seq desc limit ${scanned}
      ) as l where m.account_id = ${search.accountId} ${search.emitterId === undefined ? tx`` : tx`and m.id = ${search.emitterId}`}
    ), ends as (
      select distinct on (emitter_id) indexed_at_ms, seq, emitter_id, count(*) over (partition by emitter_id) as rows
      from looked order by emitter_id, indexed_at_ms, seq
    ), floor as (
      select indexed_at_ms, seq, emitter_id from ends where rows >= ${scanned}::int4 order by ${order} limit 1
    ), ordered as (
      select *, sum(bytes) over (order by ${order}) - bytes as bytes_before from looked
      where not exists (select from floor) or (indexed_at_ms, seq, emitter_id) >= (select indexed_at_ms, seq, emitter_id from floor)
    ), searched as (
      select * from ordered ${search.text === undefined ? tx`` : tx`where bytes_before < ${LIMITS.maxSearchedBytes}::int8`}
    ), last as (
      select indexed_at_ms, seq, emitter_id from searched order by indexed_at_ms, seq, emitter_id limit 1
    ), matched as (
      select s.emitter_id, s.indexed_at_ms, s.seq, s.bytes from searched s where ${matches(tx, search)}
      order by ${order} limit ${limit}
    ), measured as (
      select *, bytes > ${LIMITS.summaryEventBytes}::int4 and sum(bytes) over (order by ${order}) > ${wholeBytes}::int8 as is_cut
      from matched
    ), shown as (
      select m.emitter_id as shown_emitter_id, m.is_cut, e.* from measured m join events e using (emitter_id, indexed_at_ms, seq)
    )
    select shown_emitter_id as emitter_id, ${eventColumns(tx)}, is_cut,
      case when is_cut then left(data, ${LIMITS.summaryEventBytes}::int4) else data end as data, l.*,
      not exists (select from floor) and (select count(*) from searched) = (select count(*) from ordered) as is_at_end
    from (select indexed_at_ms as last_ms, seq as last_seq, emitter_id as last_emitter_id from last) as l
    left join shown on true order by ${order}`;
  const items = rows.flatMap((row) => (row.emitter_id === null ? [] : [eventRecord(row.emitter_id, row)]));
  const [any] = rows;
  if (items.length === limit || any === undefined || any.is_at_end) return { items };
  return { items, lookedUpTo: { ms: any.last_ms, seq: any.last_seq, emitterId: any.last_emitter_id } };
}

/** By the keys of events. */
function inRange(tx: Transaction, search: EventSearch): Fragment {
  const { accountId, channel, position, sinceMs, untilMs, after } = search;
  return tx`account_id = ${accountId}
    ${channel === undefined || channel === '' ? tx`` : tx`and channel = ${channel} and channel <> ''`}
    ${position === undefined ? tx`` : tx`and indexed_at_ms = ${position.ms}::int8 and seq = ${position.seq}::int4`}
    ${sinceMs === undefined ? tx`` : tx`and indexed_at_ms >= ${sinceMs}::int8`}
    ${untilMs === undefined ? tx`` : tx`and indexed_at_ms < ${untilMs}::int8`}
    ${
      after === undefined
        ? tx``
        : tx`and (indexed_at_ms, seq) <= (${after.ms}::int8, ${after.seq}::int4)
          and (indexed_at_ms, seq, emitter_id) < (${after.ms}::int8, ${after.seq}::int4, ${after.emitterId})`
    }`;
}

/** The remaining conditions of the search, for rows named `s`. */
function matches(tx: Transaction, { channel, emitId, position, text }: EventSearch): Fragment {
  // As JSON has it: text with a quote is found as people see it, and as it is written.
  const written = text === undefined ? '' : JSON.stringify(text).slice(1, -1);
  const ofAny = (emitId ?? position) === undefined ? tx`s.channel not like '$%'` : tx`true`;
  return tx`${channel === undefined ? ofAny : tx`s.channel = ${channel}`}
    ${emitId === undefined ? tx`` : tx`and s.emit_id = ${emitId}`}
    ${
      text === undefined
        ? tx``
        : // A value and no `exists`, which Postgres may answer by a hash of all events with the text: it
          // would read the events of all accounts, beyond the limit of a search.
          tx`and (strpos(s.summary, ${text}) > 0 or (
          select strpos(e.data, ${text}) > 0 or strpos(e.data, ${written}) > 0 from events e
          where e.emitter_id = s.emitter_id and e.indexed_at_ms = s.indexed_at_ms and e.seq = s.seq
        ))`
    }`;
}
