import type { DueDelivery } from '../outbox/index.ts';
import type { Sql } from '../db/index.ts';

export type PastEvent = Pick<DueDelivery, 'emitterId' | 'indexedAtMs' | 'seq' | 'channel' | 'data'> & {
  ts: number | null;
};

/** A delivery that was made again has the same event. */
const DELIVERIES_PER_EVENT = 10;

/** The events of a webhook's newest deliveries, the newest first. */
export async function readNewestOfWebhook(
  sql: Sql,
  { accountId, webhookId }: { accountId: string; webhookId: string },
  count: number,
): Promise<PastEvent[]> {
  return sql<PastEvent[]>`
    with newest as (
      select emitter_id, indexed_at_ms, seq, id from deliveries
      where webhook_id = ${webhookId} and account_id = ${accountId}
      order by id desc limit ${count * DELIVERIES_PER_EVENT}
    ), chosen as (
      select emitter_id, indexed_at_ms, seq, max(id) as id from newest
      group by emitter_id, indexed_at_ms, seq order by max(id) desc limit ${count}
    )
    select e.emitter_id as "emitterId", e.indexed_at_ms as "indexedAtMs", e.seq, e.channel, e.data, e.ts
    from chosen c join events e on e.emitter_id = c.emitter_id and e.indexed_at_ms = c.indexed_at_ms
      and e.seq = c.seq and e.account_id = ${accountId}
    order by c.id desc`;
}
