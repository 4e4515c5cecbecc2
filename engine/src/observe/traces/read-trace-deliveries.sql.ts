import { LIMITS } from '@headwater/shared';
import type { AttemptRecord, DeliveryStatus } from '../../contract/index.ts';
import type { Transaction } from '../../db/index.ts';
import { lookInIndexOrder } from '../../events/index.ts';
import { emittersOf, newestAttempts, type TraceEventRow } from './read-trace.sql.ts';
import { shownStatus } from '../../outbox/index.ts';
import { momentsOf } from './trace-moments.ts';

export interface TraceDeliveryRow {
  id: string;
  webhook_id: string;
  emitter_id: string;
  indexed_at_ms: number;
  seq: number;
  status: DeliveryStatus;
  attempts: AttemptRecord[];
  /** Null: it waits for another of its key. */
  next_attempt_ms: number | null;
}

/** Deliveries of the events to webhooks that are there, those first that listen now. */
export async function readTraceDeliveries(
  sql: Transaction,
  accountId: string,
  events: readonly TraceEventRow[],
  limit: number,
): Promise<TraceDeliveryRow[]> {
  const keys = await findDeliveries(sql, accountId, { events, limit });
  return sql<TraceDeliveryRow[]>`
    select d.id, d.webhook_id, d.emitter_id, d.indexed_at_ms, d.seq, ${shownStatus(sql)} as status, ${newestAttempts(sql)},
      (extract(epoch from nullif(d.next_attempt_at, 'infinity')) * 1000)::float8 as next_attempt_ms
    from deliveries d join webhooks w on w.id = d.webhook_id
    where (d.webhook_id, d.id) in (
      select * from unnest(${keys.map((key) => key.webhook_id)}::text[], ${keys.map((key) => key.id)}::text[])
    )
    order by d.id`;
}

/**
 * The id of a delivery carries the millisecond of its event, so each is found at one place of its
 * webhook's key. The bound within keeps Postgres from making one join of it all, for which it would
 * read all deliveries of these webhooks.
 */
async function findDeliveries(
  sql: Transaction,
  accountId: string,
  { events, limit }: { events: readonly TraceEventRow[]; limit: number },
): Promise<{ webhook_id: string; id: string }[]> {
  const listening = await sql<{ id: string }[]>`
    select w.id from webhooks w where w.account_id = ${accountId}
    order by not exists (
      select from subscriptions s where s.listener_id = w.id and s.emitter_id = any(${emittersOf(events)}::text[])
    ), w.id limit ${LIMITS.maxTraceWebhooks}`;
  const { emitIds, floors, ends } = momentsOf(events, 'delivery');
  return lookInIndexOrder(
    sql,
    (tx) => tx<{ webhook_id: string; id: string }[]>`
      select found.webhook_id, found.id
      from unnest(${listening.map(({ id }) => id)}::text[]) as listening(id)
      cross join unnest(${floors}::text[], ${ends}::text[]) as moment(floor, ending)
      cross join lateral (
        select webhook_id, id from deliveries
        where webhook_id = listening.id and id >= moment.floor and id < moment.ending
          and emitter_id || '-' || indexed_at_ms || '-' || seq = any(${emitIds}::text[])
        order by id limit ${limit}
      ) as found
      order by found.id limit ${limit}`,
  );
}
