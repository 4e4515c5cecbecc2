import { idFloor, LIMITS } from '@headwater/shared';
import type { RedeliveryChoice } from '../../contract/index.ts';
import { addJobs, type Sql, type Transaction } from '../../db/index.ts';
import { cancelNote } from '../cancel-note.ts';
import { deliverLane } from './deliver-lane.ts';
import { inIndexOrder } from '../../events/index.ts';

/**
 * Deliveries made due again in one transaction: a statement that waits for one of these rows waits
 * for a fraction of a second.
 */
const REDELIVERED_AT_ONCE = 1_000;

interface RedeliverySlice {
  accountId: string;
  webhookId: string;
  choice: RedeliveryChoice;
  after: string;
  limit: number;
}

interface Redelivered {
  count: number;
  /** The last one that was looked at; undefined: there is no more. */
  last: string | undefined;
}

/**
 * Makes failed deliveries of a webhook due again, from the beginning of their schedule, oldest
 * first, up to LIMITS.maxRedeliveries. Returns how many. Skips deliveries that an attempt still
 * holds, or whose event was deleted. The lease of a dead node does not count: a delivery cancelled
 * under way keeps it.
 */
export async function redeliverFailed(
  sql: Sql,
  accountId: string,
  webhookId: string,
  choice: RedeliveryChoice,
): Promise<number> {
  let count = 0;
  for (let after: string | undefined = ''; after !== undefined && count < LIMITS.maxRedeliveries; ) {
    const limit = Math.min(REDELIVERED_AT_ONCE, LIMITS.maxRedeliveries - count);
    const some: Redelivered = await redeliverSome(sql, { accountId, webhookId, choice, after, limit });
    count += some.count;
    after = some.last;
  }
  return count;
}

/** The same for one, however it has ended. */
export async function redeliverOne(
  sql: Sql,
  accountId: string,
  webhookId: string,
  deliveryId: string,
): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx`
      with chosen as (
        select d.id from deliveries d
        where d.account_id = ${accountId} and d.webhook_id = ${webhookId} and d.id = ${deliveryId} and d.status <> 'pending'
          and ${isFree(tx)} and ${hasEvent(tx)} for update of d skip locked
      )
      update deliveries d set ${dueAgain(tx)} from chosen
      where d.webhook_id = ${webhookId} and d.id = chosen.id
      returning d.id`;
    if (rows.length > 0) await addJobs(tx, [deliverLane(webhookId)]);
    return rows.length;
  });
}

/** How many `redeliverFailed` would take just now. */
export async function countRedeliverable(
  sql: Sql,
  accountId: string,
  webhookId: string,
  choice: RedeliveryChoice,
): Promise<number> {
  return inIndexOrder(sql, async (tx) => {
    const [row] = await tx<{ count: number }[]>`
      select count(*)::int4 as count from (
        select from deliveries d where ${hasFailed(tx, accountId, webhookId, choice)} and ${hasEvent(tx)}
        limit ${LIMITS.maxRedeliveries}
      ) as counted`;
    return row?.count ?? 0;
  });
}

/**
 * Takes the deliveries after one id: earlier ones may have failed again by now. A delivery whose
 * event was deleted is looked at once: it is cancelled, so the next call does not meet it again.
 */
async function redeliverSome(
  sql: Sql,
  { accountId, webhookId, choice, after, limit }: RedeliverySlice,
): Promise<Redelivered> {
  return inIndexOrder(sql, async (tx) => {
    const chosen = await tx<{ id: string; hasEvent: boolean }[]>`
      select d.id, ${hasEvent(tx)} as "hasEvent" from deliveries d
      where ${hasFailed(tx, accountId, webhookId, choice)} and d.id > ${after}
      order by d.id limit ${limit} for update of d skip locked`;
    const { true: due = [], false: lost = [] } = Object.groupBy(chosen, (row) => `${row.hasEvent}`);
    const these = (rows: readonly { id: string }[]) =>
      tx`webhook_id = ${webhookId} and id = any(${rows.map(({ id }) => id)}::text[])`;
    if (lost.length > 0) {
      const note = cancelNote('The event was deleted', Date.now());
      await tx`update deliveries set status = 'cancelled', attempts = attempts || ${note}::text::jsonb where ${these(lost)}`;
    }
    if (due.length > 0) {
      await tx`update deliveries set ${dueAgain(tx)} where ${these(due)}`;
      await addJobs(tx, [deliverLane(webhookId)]);
    }
    return { count: due.length, last: chosen.length === limit ? chosen.at(-1)?.id : undefined };
  });
}

function hasFailed(
  tx: Transaction,
  accountId: string,
  webhookId: string,
  { errorClasses, since, until }: RedeliveryChoice,
) {
  return tx`d.account_id = ${accountId} and d.webhook_id = ${webhookId} and d.status = 'failed' and ${isFree(tx)}
    ${since === undefined ? tx`` : tx`and d.id >= ${idFloor('delivery', since.getTime())}`}
    ${until === undefined ? tx`` : tx`and d.id < ${idFloor('delivery', until.getTime())}`}
    ${errorClasses === undefined ? tx`` : tx`and d.error_class = any(${[...errorClasses]}::text[])`}`;
}

export function dueAgain(tx: Transaction) {
  return tx`status = 'pending', attempt_count = 0, error_class = null, next_attempt_at = now(), leased_by = null,
    next_trigger = 'manual'`;
}

export function isFree(tx: Transaction) {
  return tx`(d.leased_by is null or not exists (select from nodes n where n.id = d.leased_by))`;
}

function hasEvent(tx: Transaction) {
  return tx`exists (
    select from events e where e.account_id = d.account_id and e.emitter_id = d.emitter_id
      and e.indexed_at_ms = d.indexed_at_ms and e.seq = d.seq
  )`;
}
