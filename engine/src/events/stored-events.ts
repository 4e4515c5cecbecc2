import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import type { EventHistoryRequest, Events, Principal } from '../contract.ts';
import type { Database } from '../store/database.ts';
import { deleteEvents } from '../store/delete-events.ts';
import { countEvents, type EventRange, readEvents } from '../store/read-events.ts';
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

  return {
    async recent(who, emitterId, options) {
      await check(who, emitterId);
      return readEvents(sql, who.accountId, emitterId, options);
    },
    async history(who, emitterId, request) {
      await check(who, emitterId);
      const { limit, expand } = request;
      const range = rangeOf(request);
      const after = position('after', request.after);
      const before = position('before', request.before);
      const slice = { ...range, limit, expand, ...(after && { after }), ...(before && { before }) };
      const items = await readEvents(sql, who.accountId, emitterId, slice);
      const total = await countEvents(sql, who.accountId, emitterId, range, LIMITS.maxCountedEvents);
      const [first, last] = [items[0], items.at(-1)];
      return { items, total, ...(first && last ? { startCursor: first.id, endCursor: last.id } : {}) };
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
