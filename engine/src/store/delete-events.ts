import { LIMITS } from '@headwater/shared';
import type { Sql } from './database.ts';
import type { EventRange } from './read-events.ts';
import { uncountHistory } from './uncount-history.ts';

/** Deletes the emitter's events from `start` to `end`, both included; deliveries of them that are still due are cancelled. */
export async function deleteEvents(
  sql: Sql,
  accountId: string,
  emitterId: string,
  range: Pick<EventRange, 'start' | 'end'>,
): Promise<void> {
  const from = range.start ?? { ms: 0, seq: 0 };
  const to = range.end ?? { ms: Number.MAX_SAFE_INTEGER, seq: 2 ** 31 - 1 };
  await sql.begin(async (tx) => {
    const due = tx`
      status = 'pending' and account_id = ${accountId} and emitter_id = ${emitterId}
        and webhook_id = any(array(select id from webhooks where account_id = ${accountId}))
        and (indexed_at_ms, seq) >= (${from.ms}::int8, ${from.seq}::int4)
        and (indexed_at_ms, seq) <= (${to.ms}::int8, ${to.seq}::int4)`;
    // In two, by the webhook: each is found in the index of what is pending. In one, all that is pending of all accounts is read.
    await tx`update deliveries set status = 'cancelled' where leased_by is null and ${due}`;
    await tx`update deliveries set status = 'cancelled', leased_by = null where leased_by is not null and ${due}`;
    const freed = await tx<{ beganMs: number; bytes: number }[]>`
      with gone as (
        delete from events
        where account_id = ${accountId} and emitter_id = ${emitterId}
          and (indexed_at_ms, seq) >= (${from.ms}::int8, ${from.seq}::int4)
          and (indexed_at_ms, seq) <= (${to.ms}::int8, ${to.seq}::int4)
        returning indexed_at_ms - indexed_at_ms % ${LIMITS.historyPartMs}::int8 as began_ms,
          ${LIMITS.historyRowBytes}::int4 + octet_length(data) + octet_length(channel) + coalesce(octet_length(emit_id), 0)
            + coalesce(octet_length(summary), 0) as bytes
      )
      select began_ms as "beganMs", sum(bytes)::int8 as bytes from gone group by began_ms`;
    await uncountHistory(tx, accountId, freed);
  });
}
