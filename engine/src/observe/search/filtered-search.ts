import { createGiveWay, type Filter, LIMITS, matchFilter } from '@headwater/shared';
import type { EventRecord } from '../../contract/index.ts';
import type { Sql } from '../../db/index.ts';
import { type EventPlace, type EventSearch, type FoundEvents, searchEvents } from './search-events.sql.ts';
import { parseEvent, parseEventId } from '../../events/index.ts';

/** Events that are read at once, with their data: LIMITS.maxSummariesBytes at most. */
const READ_AT_ONCE = 100;

/**
 * The events of a search whose data match a filter. Reads them in pieces and stops after
 * LIMITS.maxSearchedBytes of data or LIMITS.maxScannedEvents; the next page continues there. An
 * event that takes too many steps does not match.
 */
export async function searchWithFilter(sql: Sql, search: EventSearch, filter: Filter): Promise<FoundEvents> {
  const giveWay = createGiveWay();
  const items: EventRecord[] = [];
  let [looked, bytes, shownBytes]: [number, number, number] = [0, 0, 0];
  let after: EventPlace | undefined = search.after;
  for (;;) {
    const from: Pick<EventSearch, 'after'> = after === undefined ? {} : { after };
    const piece = await searchEvents(sql, { ...search, ...from, limit: READ_AT_ONCE, expand: true });
    for (const event of piece.items) {
      // Its data come with the next piece, which begins with it.
      if (event.isCut === true) break;
      await giveWay();
      after = placeOf(event);
      looked++;
      bytes += event.data.length;
      if (matchesEvent(filter, event)) {
        items.push(shown(event, search.expand && shownBytes + event.data.length <= LIMITS.maxSummariesBytes));
        shownBytes += event.data.length;
        if (items.length === search.limit) return { items };
      }
      if (bytes >= LIMITS.maxSearchedBytes || looked >= LIMITS.maxScannedEvents) return { items, lookedUpTo: after };
    }
    if (!isAt(piece.items.at(-1), after)) continue;
    if (piece.lookedUpTo !== undefined) return { items, lookedUpTo: piece.lookedUpTo };
    if (piece.items.length < READ_AT_ONCE) return { items };
  }
}

function matchesEvent(filter: Filter, { data }: EventRecord): boolean {
  return matchFilter(filter, parseEvent(data), { left: LIMITS.maxFilterStepsPerEvent }) === 'match';
}

function shown(event: EventRecord, isWhole: boolean): EventRecord {
  if (isWhole || event.data.length <= LIMITS.summaryEventBytes) return event;
  return { ...event, data: event.data.slice(0, LIMITS.summaryEventBytes), isCut: true };
}

function placeOf({ emitterId, id }: EventRecord): EventPlace {
  const position = parseEventId(id);
  if (position === undefined) throw new Error(`Event ${id} has no place`);
  return { ...position, emitterId };
}

/** Whether all of a piece was looked at. */
function isAt(last: EventRecord | undefined, after: EventPlace | undefined): boolean {
  if (last === undefined) return true;
  const { ms, seq, emitterId } = placeOf(last);
  return after?.ms === ms && after.seq === seq && after.emitterId === emitterId;
}
