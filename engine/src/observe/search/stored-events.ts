import { HeadwaterError, LIMITS, notFound } from '@headwater/shared';
import { createBoundedTurns } from '../../fairness/index.ts';
import type { EventHistoryRequest, EventRecord, Events, Page, Principal } from '../../contract/index.ts';
import type { Database, Transaction } from '../../db/index.ts';
import { deleteEvents } from './delete-events.sql.ts';
import {
  countEvents,
  emitterExists,
  type EventPosition,
  type EventRange,
  findNthEvent,
  formatEventId,
  isWorkflow,
  parseEventId,
  readEvents,
  readInIndexOrder,
} from '../../events/index.ts';
import { searchPage } from './search.ts';
import { readNewestLines } from './read-newest-lines.ts';

/**
 * Events of sources and workflows, for the API. Every method throws NOT_FOUND for an emitter of
 * another account.
 */
export function createEvents({ db }: { db: Database }): Events {
  const { sql } = db;
  const deletions = createBoundedTurns('maxDeletionsPerTenant', 'deletions of events');

  async function check({ accountId }: Principal, emitterId: string): Promise<void> {
    const isKnown = !emitterId.includes('\0') && (await emitterExists(sql, accountId, emitterId));
    if (!isKnown) throw notFound(isWorkflow(emitterId) ? 'workflow' : 'source', emitterId);
  }

  async function readSlice(
    tx: Transaction,
    { accountId }: Principal,
    emitterId: string,
    { limit, expand, after, before }: EventHistoryRequest,
    { range, maxCounted }: { range: EventRange; maxCounted: number },
  ): Promise<Page<EventRecord>> {
    const [below, above] = [position('after', after), position('before', before)];
    const slice = { ...range, limit, expand, ...(below && { after: below }), ...(above && { before: above }) };
    const { items, lookedUpTo } = await readEvents(tx, accountId, emitterId, slice);
    const total = await countEvents(tx, accountId, emitterId, range, maxCounted);
    const cursors = { startCursor: items[0]?.id, endCursor: items.at(-1)?.id };
    // The next page continues where the scan stopped, even after an empty page.
    if (lookedUpTo !== undefined)
      cursors[below === undefined && above ? 'startCursor' : 'endCursor'] = formatEventId(lookedUpTo);
    const { startCursor, endCursor } = cursors;
    return { items, total, ...(startCursor && { startCursor }), ...(endCursor && { endCursor }) };
  }

  return {
    async recent(who, emitterId, request) {
      await check(who, emitterId);
      const range = rangeOf(request);
      return readInIndexOrder(sql, async (tx) => {
        // Only a cursor can lead below the newest ones.
        const start =
          (request.after ?? request.before) === undefined
            ? undefined
            : await findNthEvent(tx, who.accountId, emitterId, range, LIMITS.recentEvents);
        const within = { range: { ...range, ...(start && { start }) }, maxCounted: LIMITS.recentEvents };
        return readSlice(tx, who, emitterId, request, within);
      });
    },
    async history(who, emitterId, request) {
      await check(who, emitterId);
      const within = { range: rangeOf(request), maxCounted: LIMITS.maxCountedEvents };
      return readInIndexOrder(sql, (tx) => readSlice(tx, who, emitterId, request, within));
    },
    async search(who, request) {
      const { emitterId } = request;
      // The account itself emits on the channel $webhooks.
      if (emitterId !== undefined && emitterId !== who.accountId) await check(who, emitterId);
      return searchPage(sql, who.accountId, request);
    },
    async logLines(who, emitterId, limit) {
      await check(who, emitterId);
      return readNewestLines(sql, who.accountId, emitterId, limit);
    },
    async delete(who, emitterId, range) {
      await check(who, emitterId);
      const { accountId } = who;
      await deletions.run(accountId, () => deleteEvents(sql, accountId, emitterId, rangeOf(range)));
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
