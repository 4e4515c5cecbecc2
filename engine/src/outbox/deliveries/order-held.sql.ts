import { setTimeout as sleep } from 'node:timers/promises';
import { restAfterMs } from '../../fairness/index.ts';
import type { Sql } from '../../db/index.ts';
import { inIndexOrder } from '../../events/index.ts';

/** Deliveries that are looked at, and moved, in one transaction. */
const LOOKED_AT = 2_000;

interface Place {
  /** As text, with its microseconds. */
  at: string;
  id: string;
}

/**
 * Makes the held deliveries of a stopped webhook due in the order of their events. Without this,
 * those that wait for a retry would come after later events. Works in short transactions with
 * pauses; if it ends early, the rest keeps its place.
 */
export async function orderHeld(sql: Sql, accountId: string, webhookId: string): Promise<void> {
  for (let after: Place | undefined = { at: '-infinity', id: '' }; after !== undefined; ) {
    const begunMs = performance.now();
    after = await orderSome(sql, accountId, webhookId, after);
    if (after !== undefined) await sleep(restAfterMs(performance.now() - begunMs));
  }
}

async function orderSome(sql: Sql, accountId: string, webhookId: string, after: Place): Promise<Place | undefined> {
  const next = await inIndexOrder(
    sql,
    (tx) => tx<(Place & { wasAttempted: boolean })[]>`
      select id, next_attempt_at::text as at, jsonb_array_length(attempts) > 0 as "wasAttempted" from deliveries
      where leased_by is null and webhook_id = ${webhookId} and account_id = ${accountId} and status = 'pending'
        and (next_attempt_at, id) > (${after.at}::text::timestamptz, ${after.id}::text)
      order by next_attempt_at, id limit ${LOOKED_AT}`,
  );
  const ids = next.filter(({ wasAttempted }) => wasAttempted).map(({ id }) => id);
  if (ids.length > 0)
    await sql`
      update deliveries set next_attempt_at = to_timestamp(indexed_at_ms / 1000.0)
      where webhook_id = ${webhookId} and id = any(${ids}::text[]) and status = 'pending' and leased_by is null`;
  return next.length === LOOKED_AT ? next.at(-1) : undefined;
}
