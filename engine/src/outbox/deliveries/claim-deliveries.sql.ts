import type { DueDelivery } from './due-delivery.ts';
import { addJobs, fitsClaim, mayLeaveMore, type Sql, type Transaction } from '../../db/index.ts';
import { cancelNote } from '../cancel-note.ts';
import { deliverLane } from './deliver-lane.ts';
import { goesThroughLane, receiverColumns, receiverOf, type ReceiverRow } from '../webhooks/receiver-columns.sql.ts';

/** Its `url` is null where the webhook is gone. */
interface ClaimedRow extends ReceiverRow {
  active: boolean | null;
  id: string;
  webhook_id: string;
  account_id: string;
  emitter_id: string;
  indexed_at_ms: number;
  seq: number;
  attempt_count: number;
  next_trigger: 'manual' | 'replay' | null;
  replay_id: string | null;
  /** It was made for a webhook in order, whatever the webhook is now. */
  is_keyed: boolean;
  /** Null where the event was deleted. */
  data: string | null;
  channel: string;
  trace_id: string | null;
  ts: number | null;
  /** How many were found due, all of them in each row. */
  found: number;
}

/**
 * Leases up to `limit` due deliveries of a webhook to this node, fewer if their events are large.
 * Takes the longest due first; those of one commit in the order of their events. Skips rows that
 * another node is claiming. If more may be left, the same transaction adds the lane job again.
 * Cancels deliveries whose event or webhook is gone. Takes nothing of a stopped webhook.
 */
export async function claimDeliveries(
  sql: Sql,
  nodeId: string,
  webhookId: string,
  limit: number,
): Promise<DueDelivery[]> {
  return sql.begin(async (tx) => {
    const { taken, mayBeMore } = await leaseDue(tx, nodeId, webhookId, limit);
    if (mayBeMore) await addJobs(tx, [deliverLane(webhookId)]);
    return taken;
  });
}

interface DeliveryKey {
  webhookId: string;
  id: string;
}

interface Leased {
  taken: DueDelivery[];
  /** Those that are cancelled among them. */
  found: number;
  mayBeMore: boolean;
  /** Their events were deleted. */
  cancelled: DeliveryKey[];
}

/**
 * The lease of `claimDeliveries` alone, within a transaction of its caller. `only`: of these, by
 * id.
 */
export async function leaseDue(
  tx: Transaction,
  nodeId: string,
  webhookId: string,
  limit: number,
  only?: readonly string[],
): Promise<Leased> {
  const rows = await lease(tx, nodeId, dueOfWebhook(tx, { webhookId, limit, only }));
  // Stopped since its lane was looked at.
  if (rows.some(({ active }) => active === false)) {
    await giveBack(tx, nodeId, webhookId, rows);
    return { taken: [], found: 0, mayBeMore: false, cancelled: [] };
  }
  const { taken, cancelled } = await takeLeased(tx, nodeId, rows);
  return { taken, found: rows.length, mayBeMore: mayLeaveMore(rows, limit), cancelled };
}

export interface ClaimedLane {
  webhookId: string;
  most: number;
  /** Its lane comes back anyway: what is left does not bring the next turn. */
  restIsLater?: true;
}

/**
 * The lease of `claimOfAccount`: `most` of each lane, of webhooks that nothing holds back.
 * `hasEmpty`: nothing was found for one of them.
 */
export async function leaseDueOfMany(
  tx: Transaction,
  nodeId: string,
  lanes: readonly ClaimedLane[],
): Promise<{ taken: DueDelivery[]; mayBeMore: boolean; hasEmpty: boolean }> {
  const rows = await lease(tx, nodeId, dueOfMany(tx, lanes));
  const { taken } = await takeLeased(tx, nodeId, rows);
  const byWebhook = Map.groupBy(rows, (row) => row.webhook_id);
  const isFull = lanes.some(
    ({ webhookId, most, restIsLater }) => restIsLater !== true && byWebhook.get(webhookId)?.length === most,
  );
  return {
    taken,
    mayBeMore: isFull || (rows[0]?.found ?? 0) > rows.length,
    hasEmpty: byWebhook.size < lanes.length,
  };
}

/**
 * Leases of each key of which these have ended the next delivery, as far as their events fit.
 * `isCut`: not all did. The caller has locked the rows of their webhooks, and nothing but the order
 * holds these back. Where the first of a key is not due, or leased, none of it is taken.
 */
export async function leaseNextOfKeys(
  tx: Transaction,
  nodeId: string,
  ended: readonly DeliveryKey[],
): Promise<{ taken: DueDelivery[]; cancelled: DeliveryKey[]; isCut: boolean }> {
  const rows = await lease(tx, nodeId, nextOfKeys(tx, ended));
  return { ...(await takeLeased(tx, nodeId, rows)), isCut: (rows[0]?.found ?? 0) > rows.length };
}

async function takeLeased(
  tx: Transaction,
  nodeId: string,
  rows: readonly ClaimedRow[],
): Promise<{ taken: DueDelivery[]; cancelled: DeliveryKey[] }> {
  const [deliverable, orphaned] = partition(rows);
  if (orphaned.length > 0) await cancelOrphans(tx, nodeId, orphaned);
  return {
    taken: deliverable.map(dueDelivery),
    cancelled: orphaned.map((row) => ({ webhookId: row.webhook_id, id: row.id })),
  };
}

interface OfWebhook {
  webhookId: string;
  limit: number;
  /** Default: any that are due. */
  only: readonly string[] | undefined;
}

// leased_by is null in every row and leads the order all the same: it leads the index, which
// Postgres otherwise does not see to be in order, and sorts the whole backlog for each batch.
const dueOfWebhook = (tx: Transaction, { webhookId, limit, only }: OfWebhook) => tx`
  select webhook_id, id, emitter_id, indexed_at_ms, seq, next_attempt_at from deliveries
  where webhook_id = ${webhookId} and status = 'pending' and leased_by is null and next_attempt_at <= now()
    ${only === undefined ? tx`` : tx`and id = any(${[...only]}::text[])`}
  order by leased_by, next_attempt_at, indexed_at_ms, seq limit ${limit} for update skip locked`;

const dueOfMany = (tx: Transaction, lanes: readonly { webhookId: string; most: number }[]) => tx`
  select d.* from unnest(
    ${lanes.map(({ webhookId }) => webhookId)}::text[], ${lanes.map(({ most }) => most)}::int4[]
  ) as lane(webhook_id, most)
  join webhooks w on w.id = lane.webhook_id and w.active and ${goesThroughLane(tx)} is not true
  cross join lateral (
    select webhook_id, id, emitter_id, indexed_at_ms, seq, next_attempt_at from deliveries
    where webhook_id = lane.webhook_id and status = 'pending' and leased_by is null and next_attempt_at <= now()
    order by leased_by, next_attempt_at, indexed_at_ms, seq limit lane.most for update skip locked
  ) as d`;

const nextOfKeys = (tx: Transaction, ended: readonly DeliveryKey[]) => tx`
  select first.* from (
    select distinct d.webhook_id, d.order_key
    from unnest(${ended.map(({ webhookId }) => webhookId)}::text[], ${ended.map(({ id }) => id)}::text[]) as e(webhook_id, id)
    join deliveries d using (webhook_id, id) where d.status <> 'pending' and d.order_key is not null
  ) as k cross join lateral (
    select webhook_id, id, emitter_id, indexed_at_ms, seq, leased_by, next_attempt_at from deliveries d
    where d.webhook_id = k.webhook_id and d.order_key = k.order_key and d.order_key is not null and d.status = 'pending'
    order by d.indexed_at_ms, d.seq, d.id limit 1
  ) as first where first.leased_by is null and (first.next_attempt_at = 'infinity' or first.next_attempt_at <= now())`;

function lease(tx: Transaction, nodeId: string, found: ReturnType<typeof dueOfMany>): Promise<ClaimedRow[]> {
  return tx<ClaimedRow[]>`
    with found as (${found}), due as (
      select f.webhook_id, f.id, count(*) over () as found, sum(octet_length(e.data)) over (
          order by f.next_attempt_at, f.indexed_at_ms, f.seq, f.id rows between unbounded preceding and 1 preceding
        ) as bytes_before
      from found f
      left join events e on e.emitter_id = f.emitter_id and e.indexed_at_ms = f.indexed_at_ms and e.seq = f.seq
    ), leased as (
      update deliveries d set leased_by = ${nodeId}, next_attempt_at = least(d.next_attempt_at, now()) from due
      where d.webhook_id = due.webhook_id and d.id = due.id and d.status = 'pending' and d.leased_by is null
        and ${fitsClaim(tx)}
      returning d.*, due.found
    )
    select l.id, l.webhook_id, l.account_id, l.emitter_id, l.indexed_at_ms, l.seq, l.attempt_count, l.next_trigger,
      l.replay_id, l.order_key is not null as is_keyed, ${receiverColumns(tx)}, w.active, e.data, e.channel, e.ts, coalesce(e.trace_id, e.invocation_id) as trace_id,
      l.found::int4 as found
    from leased l
    left join webhooks w on w.id = l.webhook_id and w.account_id = l.account_id
    left join events e on e.emitter_id = l.emitter_id and e.indexed_at_ms = l.indexed_at_ms and e.seq = l.seq
      and e.account_id = l.account_id
    order by l.next_attempt_at, l.indexed_at_ms, l.seq`;
}

type DeliverableRow = ClaimedRow & { url: string; data: string };

function partition(rows: readonly ClaimedRow[]): [DeliverableRow[], ClaimedRow[]] {
  const isDeliverable = (row: ClaimedRow): row is DeliverableRow => row.url !== null && row.data !== null;
  return [rows.filter(isDeliverable), rows.filter((row) => !isDeliverable(row))];
}

async function giveBack(
  tx: Transaction,
  nodeId: string,
  webhookId: string,
  rows: readonly ClaimedRow[],
): Promise<void> {
  await tx`
    update deliveries set leased_by = null
    where webhook_id = ${webhookId} and id = any(${rows.map(({ id }) => id)}::text[]) and leased_by = ${nodeId}`;
}

async function cancelOrphans(tx: Transaction, nodeId: string, rows: readonly ClaimedRow[]): Promise<void> {
  const note = (row: ClaimedRow) =>
    cancelNote(row.url === null ? 'The webhook was deleted' : 'The event was deleted', Date.now());
  await tx`
    update deliveries d set status = 'cancelled', leased_by = null, attempts = d.attempts || o.note::jsonb
    from unnest(
      ${rows.map((row) => row.webhook_id)}::text[], ${rows.map((row) => row.id)}::text[], ${rows.map(note)}::text[]
    ) as o(webhook_id, id, note)
    where d.webhook_id = o.webhook_id and d.id = o.id and d.leased_by = ${nodeId}`;
}

function dueDelivery(row: DeliverableRow): DueDelivery {
  return {
    id: row.id,
    accountId: row.account_id,
    webhookId: row.webhook_id,
    url: row.url,
    // Others of its key are parked behind it where the order is back before its attempt has ended.
    ...receiverOf({ ...row, wakes_lane: row.wakes_lane || row.is_keyed }),
    emitterId: row.emitter_id,
    indexedAtMs: row.indexed_at_ms,
    seq: row.seq,
    channel: row.channel,
    data: row.data,
    ...(row.trace_id === null ? {} : { traceId: row.trace_id }),
    ...(row.ts === null ? {} : { ts: row.ts }),
    attemptCount: row.attempt_count,
    ...(row.next_trigger === null ? {} : { nextTrigger: row.next_trigger }),
    ...(row.replay_id === null ? {} : { replayId: row.replay_id }),
  };
}
