import { addJobs, type Transaction } from '../../db/index.ts';
import { deliverLane } from './deliver-lane.ts';

/** Deliveries that are looked at for those that may be sent. */
const LOOKED_AT = 256;

export interface Heads {
  /** Nothing before them of their key has still to be sent. */
  ids: string[];
  /** There are more, or more to be looked at. */
  mayBeMore: boolean;
}

interface Candidate {
  id: string;
  order_key: string | null;
  isFirst: boolean;
}

/**
 * Finds the deliveries of an ordered webhook that may be sent now. A delivery behind another of its
 * key is parked: it is not due, and no claim looks at it, until `releaseNext` makes it due. The
 * caller has locked the webhook's row, as has each transaction that records the end of a delivery.
 * So no delivery is parked behind one that has ended.
 */
export async function parkBehind(
  tx: Transaction,
  { webhookId, inFlight, most }: { webhookId: string; inFlight: readonly (string | null)[]; most: number },
): Promise<Heads> {
  const rows = await tx<Candidate[]>`
    select d.id, d.order_key, d.order_key is null or not exists (
      select from deliveries e where e.webhook_id = d.webhook_id and e.order_key = d.order_key and e.status = 'pending'
        and e.order_key is not null and (e.indexed_at_ms, e.seq, e.id) < (d.indexed_at_ms, d.seq, d.id)
    ) as "isFirst"
    from deliveries d
    where d.webhook_id = ${webhookId} and d.status = 'pending' and d.leased_by is null and d.next_attempt_at <= now()
    order by d.leased_by, d.next_attempt_at, d.indexed_at_ms, d.seq limit ${LOOKED_AT} for update skip locked`;
  const busy = new Set(inFlight.filter((key) => key !== null));
  const mayGo = ({ order_key: key, isFirst }: Candidate) => isFirst && (key === null || !busy.has(key));
  const { true: heads = [], false: behind = [] } = Object.groupBy(rows, (row) => `${mayGo(row)}` as const);
  if (behind.length > 0)
    await tx`
      update deliveries set next_attempt_at = 'infinity'
      where webhook_id = ${webhookId} and id = any(${behind.map(({ id }) => id)}::text[])`;
  const blocked = behind.flatMap(({ isFirst, order_key: key }) =>
    isFirst || key === null || busy.has(key) ? [] : [key],
  );
  const released = await releaseFirst(tx, webhookId, blocked);
  return {
    ids: heads.slice(0, most).map(({ id }) => id),
    mayBeMore: heads.length > most || rows.length === LOOKED_AT || released > 0,
  };
}

/**
 * Makes the first of each key due where it is parked and nothing of its key is in flight: the
 * attempt that it waited for came back instead of ending.
 */
async function releaseFirst(tx: Transaction, webhookId: string, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0;
  const { count } = await tx`
    update deliveries d set next_attempt_at = now() from (
      select n.id from (select distinct order_key from unnest(${[...keys]}::text[]) as u(order_key)) as k
      cross join lateral (
        select f.id, f.next_attempt_at, f.leased_by from deliveries f
        where f.webhook_id = ${webhookId} and f.order_key = k.order_key and f.order_key is not null
          and f.status = 'pending'
        order by f.indexed_at_ms, f.seq, f.id limit 1
      ) as n where n.next_attempt_at = 'infinity' and n.leased_by is null
    ) as first where d.webhook_id = ${webhookId} and d.id = first.id`;
  return count;
}

/**
 * Makes the first delivery of each of these deliveries' keys due, if it is parked. Answers its
 * webhooks. The caller gives deliveries whose attempt is over: an older one of the key may have
 * been redelivered meanwhile, and waits for none of their retries.
 */
export async function releaseNext(
  tx: Transaction,
  ended: readonly { webhookId: string; id: string }[],
): Promise<string[]> {
  const rows = await tx<{ webhook_id: string }[]>`
    with ended as (
      select distinct d.webhook_id, d.order_key
      from unnest(${ended.map(({ webhookId }) => webhookId)}::text[], ${ended.map(({ id }) => id)}::text[]) as e(webhook_id, id)
      join deliveries d using (webhook_id, id) where d.order_key is not null
    ), next as (
      select n.webhook_id, n.id from ended cross join lateral (
        select webhook_id, id, next_attempt_at from deliveries d
        where d.webhook_id = ended.webhook_id and d.order_key = ended.order_key and d.order_key is not null
          and d.status = 'pending'
        order by d.indexed_at_ms, d.seq, d.id limit 1
      ) as n where n.next_attempt_at = 'infinity'
    )
    update deliveries d set next_attempt_at = now() from next where d.webhook_id = next.webhook_id and d.id = next.id
    returning d.webhook_id`;
  return rows.map((row) => row.webhook_id);
}

/**
 * Ends deliveries of a webhook, or of all of an account, otherwise than by an attempt. The next
 * ones of their keys are due in the same transaction: if a crash came between, they would stay
 * parked. `end` answers the ended ones. Locks no webhook that is in no order.
 */
export async function endAndReleaseNext(
  tx: Transaction,
  { accountId, webhookId }: { accountId: string; webhookId?: string },
  end: () => Promise<readonly { webhookId: string; id: string }[]>,
): Promise<number> {
  const ordered = await tx`
    select from webhooks where account_id = ${accountId} and ordering = 'fifo'
      ${webhookId === undefined ? tx`` : tx`and id = ${webhookId}`} order by id for no key update`;
  const ended = await end();
  if (ordered.count === 0 || ended.length === 0) return ended.length;
  const released = new Set(await releaseNext(tx, ended));
  await addJobs(
    tx,
    [...released].map((id) => deliverLane(id)),
  );
  return ended.length;
}

/** Locks the webhooks before ordered deliveries end: see `parkBehind`. */
export async function lockWebhooks(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx`select from webhooks where id = any(${[...ids]}::text[]) order by id for no key update`;
}

/** Undefined where the webhook is in no order. */
export async function readOrdering(tx: Transaction, webhookId: string): Promise<{ key: string | null } | undefined> {
  const [row] = await tx<{ key: string | null }[]>`
    select ordering_key as key from webhooks where id = ${webhookId} and ordering = 'fifo'`;
  return row;
}
