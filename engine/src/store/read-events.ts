import { and, desc, eq, notLike } from 'drizzle-orm';
import type { EventRecord } from '../contract.ts';
import { formatEventId } from '../events/event-id.ts';
import type { Database } from './database.ts';
import { events } from './schema.ts';

/** The emitter's newest events, newest first, but for the built-in channels (`$errors`, `$logs`). */
export async function readEvents(
  db: Database,
  accountId: string,
  emitterId: string,
  limit: number,
): Promise<EventRecord[]> {
  const rows = await db.orm
    .select()
    .from(events)
    .where(and(eq(events.accountId, accountId), eq(events.emitterId, emitterId), notLike(events.channel, '$%')))
    .orderBy(desc(events.indexedAtMs), desc(events.seq))
    .limit(limit);
  return rows.map((row) => ({
    id: formatEventId({ ms: row.indexedAtMs, seq: row.seq }),
    indexedAtMs: row.indexedAtMs,
    emitterId: row.emitterId,
    channel: row.channel,
    data: row.data,
    ...(row.emitId === null ? {} : { emitId: row.emitId }),
    ...(row.summary === null ? {} : { summary: row.summary }),
    ...(row.ts === null ? {} : { ts: row.ts }),
  }));
}
