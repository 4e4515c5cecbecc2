import { LIMITS } from '@headwater/shared';
import type { Sql } from '../db/database.ts';
import { inIndexOrder } from '../events/read-events.sql.ts';

export interface SourceActivity {
  id: string;
  last_event_ms: number | null;
  last_error_ms: number | null;
  /** Its beginning; null where the run is not kept any more. */
  last_error_message: string | null;
}

/** Characters of a message: a row of a list shows no more. */
const MESSAGE_CHARS = 300;

/**
 * When each source emitted last, and when it failed last and why. A source that does nothing but
 * fail has no index that leads to its own events, so only its newest ones are looked through.
 */
export async function readSourceActivity(sql: Sql, ids: readonly string[]): Promise<SourceActivity[]> {
  if (ids.length === 0) return [];
  return inIndexOrder(
    sql,
    (tx) => tx<SourceActivity[]>`
      select s.id, emitted.indexed_at_ms as last_event_ms, failed.indexed_at_ms as last_error_ms,
        left(r.error_message, ${MESSAGE_CHARS}::int4) as last_error_message
      from unnest(${[...ids]}::text[]) as s(id)
        left join lateral (
          select indexed_at_ms from (
            select indexed_at_ms, seq, channel from events where emitter_id = s.id
            order by indexed_at_ms desc, seq desc limit ${LIMITS.minScannedEvents}
          ) as newest
          where left(channel, 1) <> '$' order by indexed_at_ms desc, seq desc limit 1
        ) as emitted on true
        left join lateral (
          select indexed_at_ms, invocation_id from events where emitter_id = s.id and channel = '$errors'
          order by indexed_at_ms desc, seq desc limit 1
        ) as failed on true
        left join runs r on r.id = failed.invocation_id collate "C"`,
  );
}
