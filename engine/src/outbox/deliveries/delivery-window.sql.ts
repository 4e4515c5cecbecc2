import { LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import type { Transaction } from '../../db/index.ts';

type Fragment = postgres.PendingQuery<postgres.Row[]>;

/**
 * A page looks through it. The deliveries of an account lie in as many parts of one index as it
 * has webhooks, and one webhook may have a thousand times what another has.
 */
export interface DeliveryWindow {
  /** The webhooks that have deliveries in it; `most` of each are read. */
  lanes: { webhookId: string; most: number }[];
  /** Its far end, an id that is within it. Undefined: it has all that is left. */
  end: string | undefined;
}

interface WindowQuery {
  /** Condition for webhooks `w`. */
  ofAccount: Fragment;
  /** Condition for rows of a webhook that its index can answer. */
  inRange: Fragment;
  /** Newer ones lie ahead. */
  isUpward: boolean;
}

/** The nearest deliveries of a webhook, as far as these were read. */
interface Tail {
  webhookId: string;
  nearest: string;
  furthest: string;
  count: number;
  /** There may be more. */
  isOpen: boolean;
}

/** So many times as far is read of so many times fewer webhooks, and half as much together. */
const FURTHER = 16;
const FEWER = 2 * FURTHER;

/** The window that has the nearest `limit` deliveries. Reads one of each webhook. */
export async function windowOfNearest(tx: Transaction, query: WindowQuery, limit: number): Promise<DeliveryWindow> {
  const tails = await readTails(tx, query, 1);
  const nearest = tails.toSorted(byPlace(query, 'nearest')).slice(0, limit);
  const end = tails.length > limit ? nearest.at(-1)?.nearest : undefined;
  return { lanes: nearest.map(({ webhookId }) => ({ webhookId, most: limit })), end };
}

/**
 * A window of some LIMITS.maxScannedDeliveries. It ends where the first webhook was not read any
 * further, so those that would end it first are read further than the others.
 */
export async function windowOfMany(tx: Transaction, query: WindowQuery): Promise<DeliveryWindow> {
  const [row] = await tx<{ count: number }[]>`select count(*)::int4 as count from webhooks w where ${query.ofAccount}`;
  const webhooks = Math.max(1, row?.count ?? 1);
  let each = Math.max(LIMITS.minScannedDeliveries, Math.floor(LIMITS.maxScannedDeliveries / 2 / webhooks));
  let tails = await readTails(tx, query, each);
  for (let few = webhooks; few > 1 && each < LIMITS.maxScannedDeliveries; ) {
    few = Math.ceil(few / FEWER);
    each = Math.min(each * FURTHER, LIMITS.maxScannedDeliveries);
    const ending = new Set(
      openOf(tails, query)
        .slice(0, few)
        .map(({ webhookId }) => webhookId),
    );
    if (ending.size === 0) break;
    const further = await readTails(tx, query, each, [...ending]);
    tails = [...tails.filter(({ webhookId }) => !ending.has(webhookId)), ...further];
  }
  const end = openOf(tails, query)[0]?.furthest;
  const within = tails.filter(({ nearest }) => end === undefined || isUpTo(query, nearest, end));
  // One more than were counted: it tells that others came meanwhile.
  return { lanes: within.map(({ webhookId, count }) => ({ webhookId, most: count + 1 })), end };
}

/** Those of which there may be more, and which end the window first. */
const openOf = (tails: readonly Tail[], query: WindowQuery) =>
  tails.filter(({ isOpen }) => isOpen).toSorted(byPlace(query, 'furthest'));

const isUpTo = ({ isUpward }: WindowQuery, id: string, end: string) => (isUpward ? id <= end : id >= end);

const byPlace = (query: WindowQuery, place: 'nearest' | 'furthest') => (a: Tail, b: Tail) =>
  isUpTo(query, a[place], b[place]) ? -1 : 1;

/** Up to `each` of each webhook, or of those given, that has any. Reads only the index. */
async function readTails(
  tx: Transaction,
  { ofAccount, inRange, isUpward }: WindowQuery,
  each: number,
  only?: readonly string[],
): Promise<Tail[]> {
  const [first, last, direction] = isUpward ? [tx`min`, tx`max`, tx`asc`] : [tx`max`, tx`min`, tx`desc`];
  const rows = await tx<Omit<Tail, 'isOpen'>[]>`
    select w.id as "webhookId", t.* from webhooks w cross join lateral (
      select ${first}(id) as nearest, ${last}(id) as furthest, count(*)::int4 as count from (
        select id from deliveries where webhook_id = w.id and ${inRange} order by id ${direction} limit ${each}
      ) as d
    ) as t where ${ofAccount} ${only === undefined ? tx`` : tx`and w.id = any(${[...only]}::text[])`} and t.count > 0`;
  return rows.map((row) => ({ ...row, isOpen: row.count === each }));
}
