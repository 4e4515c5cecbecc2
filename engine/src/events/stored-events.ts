import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import type { EventHistoryRequest, EventRecord, Events, Page, Principal } from '../contract.ts';
import type { Database } from '../store/database.ts';
import { deleteEvents } from '../store/delete-events.ts';
import { countEvents, type EventRange, findNthEvent, readEvents } from '../store/read-events.ts';
import { emitterExists } from '../store/emitter-exists.ts';
import { isWorkflow } from '../run/invocation.ts';
import { type EventPosition, parseEventId } from './event-id.ts';
import { readNewestLines } from './read-newest-lines.ts';

/** What sources and workflows have emitted, as the API sees it. Every method answers NOT_FOUND for one of another account. */
export function createEvents({ db }: { db: Database }): Events {
  const { sql } = db;

  async function check({ accountId }: Principal, emitterId: string): Promise<void> {
    const isKnown = !emitterId.includes('\0') && (await emitterExists(sql, accountId, emitterId));
    if (!isKnown) throw notFound(isWorkflow(emitterId) ? 'workflow' : 'source', emitterId);
  }

  async function readSlice(
    { accountId }: Principal,
    emitterId: string,
    { limit, expand, after, before }: EventHistoryRequest,
    { range, maxCounted }: { range: EventRange; maxCounted: number },
  ): Promise<Page<EventRecord>> {
    const [below, above] = [position('after', after), position('before', before)];
    const slice = { ...range, limit, expand, ...(below && { after: below }), ...(above && { before: above }) };
    const items = await readEvents(sql, accountId, emitterId, slice);
    const total = await countEvents(sql, accountId, emitterId, range, maxCounted);
    const [first, last] = [items[0], items.at(-1)];
    return { items, total, ...(first && last ? { startCursor: first.id, endCursor: last.id } : {}) };
  }

  return {
    async recent(who, emitterId, request) {
      await check(who, emitterId);
      const range = rangeOf(request);
      // Only a cursor can lead below the newest ones.
      const start =
        (request.after ?? request.before) === undefined
          ? undefined
          : await findNthEvent(sql, who.accountId, emitterId, range, LIMITS.recentEvents);
      const within = { range: { ...range, ...(start && { start }) }, maxCounted: LIMITS.recentEvents };
      return readSlice(who, emitterId, request, within);
    },
    async history(who, emitterId, request) {
      await check(who, emitterId);
      return readSlice(who, emitterId, request, { range: rangeOf(request), maxCounted: LIMITS.maxCountedEvents });
    },
    async logLines(who, emitterId, limit) {
      await check(who, emitterId);
      return readNewestLines(sql, who.accountId, emitterId, limit);
    },
    async delete(who, emitterId, range) {
      await check(who, emitterId);
      await deleteEvents(sql, who.accountId, emitterId, rangeOf(range));
    },
  };
}

function rangeOf({ startId, endId, channel }: Partial<EventHistoryRequest>): EventRange {
  const start = position('start_id', startId);
  const end = position('end_id', endId);
  return { ...(start && { start }), ...(end && { end }), ...(channel === undefined ? {} : { channel }) };
}

function position(path: string, text: string | undefined): EventPosition | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = parseEventId(text);
  if (parsed !== undefined) return parsed;
  const message = 'Expected an event id such as 1606511826306-0';
  throw new HeadwaterError('INVALID_REQUEST', `${path}: ${message}`, { fields: [{ path, message }] });
}
