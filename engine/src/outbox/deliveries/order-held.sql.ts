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

const FIRST: Place = { at: '-infinity', id: '' };

/**
 * Makes the held deliveries of a stopped webhook due in the order of their events. Without this,
 * those that wait for a retry would come after later events. Works in short transactions with
 * pauses; if it ends early, the rest keeps its place. Answers after `maxMs` where the next call has
 * to go on.
 */
export async function orderHeld(
  sql: Sql,
  accountId: string,
  webhookId: string,
  { after = FIRST, maxMs }: { after?: Place; maxMs: number },
): Promise<Place | undefined> {
  const endMs = performance.now() + maxMs;
  for (let place: Place | undefined = after; ; ) {
    const begunMs = performance.now();
    place = await orderSome(sql, accountId, webhookId, place);
    if (place === undefined || performance.now() >= endMs) return place;
    await sleep(restAfterMs(performance.now() - begunMs));
  }
}

async function orderSome(sql: Sql, accountId: string, webhookId: string, after: Place): Promise<Place | undefined> {
  const next = await inIndexOrder(
    sql,
    (tx) => tx<(Place & { wasAttempted: boolean })[]>`
      select id, next_attempt_at::text as at, jsonb_array_length(attempts) > 0 as "wasAttempted" from deliveries
      where leased_by is null and webhook_id = ${webhookId} and account_id = ${accountId} and status = 'pending'
        and (next_attempt_at, id) > (${after.at}::text::timestamptz, ${after.id}::text)
      -- in the order of the index, or all that is left would be sorted each time
      order by leased_by, next_attempt_at, id limit ${LOOKED_AT}`,
  );
  const ids = next.filter(({ wasAttempted }) => wasAttempted).map(({ id }) => id);
  if (ids.length > 0)
    await sql`
      with found as (
        select webhook_id, id from deliveries
        where webhook_id = ${webhookId} and id = any(${ids}::text[]) and status = 'pending' and leased_by is null
        for update skip locked
      )
      update deliveries d set next_attempt_at = to_timestamp(d.indexed_at_ms / 1000.0)
      from found where d.webhook_id = found.webhook_id and d.id = found.id`;
  return next.length === LOOKED_AT ? next.at(-1) : undefined;
}
