import { setTimeout as sleep } from 'node:timers/promises';
import { restAfterMs } from '../../fairness/index.ts';
import { cancelNote } from '../cancel-note.ts';
import type { Sql } from '../../db/index.ts';
import { endAndReleaseNext } from './ordered-deliveries.sql.ts';

/**
 * Deliveries cancelled in one transaction: a statement that waits for one of these rows waits for a
 * fraction of a second.
 */
const CANCEL_BATCH = 2_000;
/** By then, transactions that lock the remaining rows have ended. */
const PAUSE_MS = 20;

interface Cancelling {
  accountId: string;
  webhookId: string;
  /** JSON text. */
  note: string;
  /** Later deliveries were not meant, or is cancelled when it is claimed. */
  until: string;
  inTurn: InTurn;
  isOver: () => boolean;
}

export interface Cancellation {
  accountId: string;
  webhookId: string;
  reason: string;
  /** Later deliveries stay. Default: now, by the database's clock. */
  until?: string;
  maxMs: number;
}

export interface Cancelled {
  count: number;
  /** Given where the time was over before all of them were cancelled: `until` of the next call. */
  until?: string;
}

/** Does one short transaction or read when the account's turn has come. */
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Cancels the pending deliveries of a webhook, after its deletion is visible or when its owner
 * discards them. Works in short transactions: one for hundreds of thousands would delay the
 * outcomes of all tenants' attempts. The lease of an attempt in flight stays, so that its outcome
 * can still be recorded. Ends early after `maxMs`. What is left of a deleted webhook is cancelled
 * when it is claimed.
 */
export async function cancelDeliveries(
  sql: Sql,
  { accountId, webhookId, reason, maxMs, ...given }: Cancellation,
  inTurn: InTurn,
): Promise<Cancelled> {
  const endMs = performance.now() + maxMs;
  const isOver = () => performance.now() >= endMs;
  const [row] = await sql<{ until: string }[]>`select now()::text as until`;
  const until = given.until ?? row?.until ?? 'now';
  const cancelling = { accountId, webhookId, note: cancelNote(reason, Date.now()), until, inTurn, isOver };
  for (let count = 0; ; ) {
    count += await cancelAll(sql, cancelling, 'waiting');
    count += await cancelAll(sql, cancelling, 'leased');
    if (!(await inTurn(() => isSomeLeft(sql, cancelling)))) return { count };
    if (isOver()) return { count, until };
    await sleep(PAUSE_MS);
  }
}

async function cancelAll(sql: Sql, cancelling: Cancelling, which: 'waiting' | 'leased'): Promise<number> {
  let count = 0;
  for (let mayBeMore = true; mayBeMore; ) {
    const begunMs = performance.now();
    const some = await cancelling.inTurn(() => cancelSome(sql, cancelling, which));
    count += some;
    mayBeMore = some === CANCEL_BATCH && !cancelling.isOver();
    if (mayBeMore) await sleep(restAfterMs(performance.now() - begunMs));
  }
  return count;
}

/**
 * Skips locked rows: attempts are recorded in the order in which they end, so waiting could
 * deadlock. A delivery that came since may have been parked behind one of these.
 */
async function cancelSome(
  sql: Sql,
  { accountId, webhookId, note, until }: Cancelling,
  which: 'waiting' | 'leased',
): Promise<number> {
  const isLeased = which === 'leased';
  return sql.begin((tx) =>
    endAndReleaseNext(
      tx,
      { accountId, webhookId },
      () => tx<{ webhookId: string; id: string }[]>`
        with found as (
          select webhook_id, id from deliveries
          where account_id = ${accountId} and webhook_id = ${webhookId} and status = 'pending'
            and created_at <= ${until}::text::timestamptz and leased_by is ${isLeased ? tx`not null` : tx`null`}
          -- of those that wait in the order of their index, or all would be sorted each time
          order by ${isLeased ? tx`id` : tx`leased_by, next_attempt_at`} limit ${CANCEL_BATCH} for update skip locked
        )
        update deliveries d set status = 'cancelled', attempts = d.attempts || ${note}::text::jsonb
        from found where d.webhook_id = found.webhook_id and d.id = found.id
        returning d.webhook_id as "webhookId", d.id`,
    ),
  );
}

async function isSomeLeft(sql: Sql, { accountId, webhookId, until }: Cancelling): Promise<boolean> {
  const some = sql`
    select from deliveries where account_id = ${accountId} and webhook_id = ${webhookId} and status = 'pending'
      and created_at <= ${until}::text::timestamptz`;
  const [row] = await sql<{ left: boolean }[]>`
    select exists (${some} and leased_by is null) or exists (${some} and leased_by is not null) as left`;
  return row?.left === true;
}

/** How many wait, without reading them. */
export async function countWaiting(sql: Sql, webhookId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int4 as count from deliveries
    where webhook_id = ${webhookId} and status = 'pending' and leased_by is null`;
  return row?.count ?? 0;
}
