import { setTimeout as sleep } from 'node:timers/promises';
import { type EventPosition, inIndexOrder } from '../../events/index.ts';
import { restAfterMs } from '../../fairness/index.ts';
import type { Sql, Transaction } from '../../db/index.ts';
import { endAndReleaseNext } from '../../outbox/index.ts';

/** Events of one emitter, both ends included. */
export interface EventSpan {
  accountId: string;
  emitterId: string;
  from: EventPosition;
  to: EventPosition;
}

/** Maximum pending deliveries of a webhook that one batch examines and cancels, across emitters. */
const LOOKED_AT = 2_000;

interface Due {
  /** As text, with its microseconds. */
  at: string;
  id: string;
}

/**
 * Cancels deliveries of events that are about to be deleted, in short transactions with rests
 * between them. One that this misses, as it changes hands meanwhile, is cancelled when its turn
 * comes.
 */
export async function cancelDue(sql: Sql, span: EventSpan): Promise<void> {
  const { accountId } = span;
  const webhooks = await sql<{ id: string }[]>`
    select id from webhooks w where account_id = ${accountId} and exists (
      select from deliveries d where d.leased_by is null and d.webhook_id = w.id and d.status = 'pending'
    )`;
  for (const { id } of webhooks) {
    for (let after: Due | undefined = { at: '-infinity', id: '' }; after !== undefined; ) {
      const begunMs = performance.now();
      after = await cancelSome(sql, { ...span, webhookId: id, after });
      if (after !== undefined) await sleep(restAfterMs(performance.now() - begunMs));
    }
  }
  await sql.begin((tx) => endAndReleaseNext(tx, { accountId }, () => cancelLeased(tx, span)));
}

interface DeliveryKey {
  webhookId: string;
  id: string;
}

/**
 * Leased rows are few. A separate update by webhook uses the index of pending deliveries. Skips
 * locked rows to avoid a deadlock: attempts are recorded in the order in which they end.
 */
function cancelLeased(tx: Transaction, span: EventSpan) {
  return tx<DeliveryKey[]>`
    with found as (
      select webhook_id, id from deliveries
      where status = 'pending' and leased_by is not null and ${within(tx, span)}
        and webhook_id = any(array(select id from webhooks where account_id = ${span.accountId}))
      for update skip locked
    )
    update deliveries d set status = 'cancelled', leased_by = null
    from found where d.webhook_id = found.webhook_id and d.id = found.id
    returning d.webhook_id as "webhookId", d.id`;
}

/**
 * Scans in the order of the index of pending rows. Returns the last place examined; undefined: the
 * end is reached. Two statements, since a join of tables that are not analyzed yet compares every
 * pair of rows.
 */
async function cancelSome(
  sql: Sql,
  { webhookId, after, ...span }: EventSpan & { webhookId: string; after: Due },
): Promise<Due | undefined> {
  const next = await inIndexOrder(
    sql,
    (tx) => tx<(Due & { isMeant: boolean })[]>`
    select id, next_attempt_at::text as at, ${within(sql, span)} as "isMeant" from deliveries
    where leased_by is null and webhook_id = ${webhookId} and status = 'pending'
      and (next_attempt_at, id) > (${after.at}::text::timestamptz, ${after.id}::text)
    -- in the order of the index, or all that is left would be sorted each time
    order by leased_by, next_attempt_at, id limit ${LOOKED_AT}`,
  );
  const ids = next.filter(({ isMeant }) => isMeant).map(({ id }) => id);
  if (ids.length > 0) {
    const cancel = (tx: Transaction) => tx<DeliveryKey[]>`
      update deliveries set status = 'cancelled'
      where webhook_id = ${webhookId} and id = any(${ids}::text[]) and status = 'pending' and leased_by is null
      returning webhook_id as "webhookId", id`;
    await sql.begin((tx) => endAndReleaseNext(tx, { ...span, webhookId }, () => cancel(tx)));
  }
  return next.length === LOOKED_AT ? next.at(-1) : undefined;
}

/** Condition for events and for deliveries. */
export function within(sql: Sql | Transaction, { accountId, emitterId, from, to }: EventSpan) {
  return sql`account_id = ${accountId} and emitter_id = ${emitterId}
    and (indexed_at_ms, seq) >= (${from.ms}::int8, ${from.seq}::int4)
    and (indexed_at_ms, seq) <= (${to.ms}::int8, ${to.seq}::int4)`;
}
