import { type Filter, HeadwaterError, parseFilter } from '@headwater/shared';
import { type EventRecord, type EventSearchRequest, type Page, throwFields } from '../../contract/index.ts';
import { checkPageSize, notACursor, type Sql } from '../../db/index.ts';
import { type EventPlace, type EventSearch, searchEvents } from './search-events.sql.ts';
import { parseEventId } from '../../events/index.ts';
import { searchWithFilter } from './filtered-search.ts';

/** One page of a search over the events of an account. */
export async function searchPage(
  sql: Sql,
  accountId: string,
  { id, since, until, after, before, filter: json, ...request }: EventSearchRequest,
): Promise<Page<EventRecord>> {
  checkPageSize(request.limit);
  if (before !== undefined) throw notUpward();
  const named = byId(id);
  const isOfOther = named.emitterId !== undefined && (request.emitterId ?? named.emitterId) !== named.emitterId;
  if (isOfOther) return { items: [], total: 0 };
  const filter = filterOf(json);
  const search: EventSearch = {
    ...request,
    ...named,
    ...(since && { sinceMs: since.getTime() }),
    ...(until && { untilMs: until.getTime() }),
    ...(after === undefined || after === '' ? {} : { after: decodePlace(after) }),
    accountId,
  };
  const found = await (filter === undefined ? searchEvents(sql, search) : searchWithFilter(sql, search, filter));
  const { items, lookedUpTo } = found;
  const [first, last] = [items[0], items.at(-1)];
  const end = lookedUpTo ?? (last && placeOf(last));
  return {
    items,
    total: items.length,
    ...(first && { startCursor: encodePlace(placeOf(first)) }),
    ...(end && { endCursor: encodePlace(end) }),
    ...(lookedUpTo && { scannedUntilMs: lookedUpTo.ms }),
  };
}

function filterOf(json: unknown): Filter | undefined {
  if (json === undefined || json === null) return undefined;
  const outcome = parseFilter(json);
  if (outcome.kind === 'filter') return outcome.filter;
  throwFields([outcome.fault]);
  return undefined;
}

const EMIT_ID = /^([a-z]+_[0-9A-Za-z]{1,64})-(\d{1,15}-\d{1,9})$/;

/** An `emit_id`, the id of an event, or else the id that the component gave. */
function byId(id: string | undefined): Pick<EventSearch, 'emitterId' | 'position' | 'emitId'> {
  if (id === undefined || id === '') return {};
  const [, emitterId, eventId] = EMIT_ID.exec(id) ?? [];
  const position = /-/.test(eventId ?? id) ? parseEventId(eventId ?? id) : undefined;
  if (position === undefined) return { emitId: id };
  return { position, ...(emitterId === undefined ? {} : { emitterId }) };
}

function placeOf({ emitterId, id }: EventRecord): EventPlace {
  const position = parseEventId(id);
  if (position === undefined) throw new Error(`Event ${id} has no place`);
  return { ...position, emitterId };
}

function encodePlace({ ms, seq, emitterId }: EventPlace): string {
  return Buffer.from(`${ms}:${seq}:${emitterId}`).toString('base64url');
}

/** A cursor of a page, or the `emit_id` of its last event. */
function decodePlace(cursor: string): EventPlace {
  const named = byId(cursor);
  if (named.position !== undefined && named.emitterId !== undefined)
    return { ...named.position, emitterId: named.emitterId };
  const match = /^(\d{1,15}):(\d{1,9}):(\w{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString('latin1'));
  if (match === null) throw notACursor('after');
  return { ms: Number(match[1]), seq: Number(match[2]), emitterId: String(match[3]) };
}

function notUpward(): HeadwaterError {
  const message = 'is not supported here: use after to search older events';
  return new HeadwaterError('INVALID_REQUEST', `before ${message}`, { fields: [{ path: 'before', message }] });
}
