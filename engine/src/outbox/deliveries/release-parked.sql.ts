import { setTimeout as sleep } from 'node:timers/promises';
import { addJobs, type Sql } from '../../db/index.ts';
import { inIndexOrder } from '../../events/index.ts';
import { restAfterMs } from '../../fairness/index.ts';
import { deliverLane } from './deliver-lane.ts';
import { lockWebhooks } from './ordered-deliveries.sql.ts';

/** Deliveries that are looked at, and made due, in one transaction. */
const LOOKED_AT = 2_000;

/** In the order of the index of ordered deliveries. */
export interface OrderedPlace {
  key: string;
  ms: number;
  seq: number;
  id: string;
}

export const FIRST_ORDERED: OrderedPlace = { key: '', ms: -1, seq: 0, id: '' };

/**
 * Makes all that is parked of a webhook due: its next claims park anew what has to wait. Works in
 * short transactions with pauses, and looks at each delivery once, so it ends although some are
 * parked again. Answers after `maxMs` where the next call has to go on.
 */
export async function releaseParked(
  sql: Sql,
  webhookId: string,
  { after, maxMs }: { after: OrderedPlace; maxMs: number },
): Promise<OrderedPlace | undefined> {
  const endMs = performance.now() + maxMs;
  for (let place: OrderedPlace | undefined = after; ; ) {
    const begunMs = performance.now();
    place = await releaseSome(sql, webhookId, place);
    if (place === undefined || performance.now() >= endMs) return place;
    await sleep(restAfterMs(performance.now() - begunMs));
  }
}

function releaseSome(sql: Sql, webhookId: string, after: OrderedPlace): Promise<OrderedPlace | undefined> {
  return inIndexOrder(sql, async (tx) => {
    // As each transaction that releases some of them: none waits for a row that another has.
    await lockWebhooks(tx, [webhookId]);
    const next = await tx<(OrderedPlace & { isParked: boolean })[]>`
      select order_key as key, indexed_at_ms as ms, seq, id,
        leased_by is null and next_attempt_at = 'infinity' as "isParked"
      from deliveries where webhook_id = ${webhookId} and status = 'pending' and order_key is not null
        and (order_key, indexed_at_ms, seq, id)
          > (${after.key}::text, ${after.ms}::int8, ${after.seq}::int4, ${after.id}::text)
      order by order_key, indexed_at_ms, seq, id limit ${LOOKED_AT}`;
    const ids = next.filter(({ isParked }) => isParked).map(({ id }) => id);
    if (ids.length > 0) {
      await tx`
        update deliveries set next_attempt_at = now()
        where webhook_id = ${webhookId} and id = any(${ids}::text[]) and leased_by is null and status = 'pending'
          and next_attempt_at = 'infinity'`;
      await addJobs(tx, [deliverLane(webhookId)]);
    }
    const last = next.length === LOOKED_AT ? next.at(-1) : undefined;
    return last && { key: last.key, ms: last.ms, seq: last.seq, id: last.id };
  });
}
