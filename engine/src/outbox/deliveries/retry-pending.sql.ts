import { LIMITS } from '@headwater/shared';
import { createFilterJudges, inIndexOrder } from '../../events/index.ts';
import { addJobs, type Sql, type Transaction } from '../../db/index.ts';
import { retriedLane } from './deliver-lane.ts';

/**
 * Deliveries that are made due in one transaction: another one that waits for one of the rows waits
 * for a fraction of a second.
 */
const RETRIED_AT_ONCE = 1_000;
/** Event data that are read in one transaction, for a filter. */
const MAX_DATA_BYTES = 4 * 1024 * 1024;

/** The place at which a retry with a filter stopped to look. */
interface RetryPlace {
  /** When it is due, in epoch microseconds. */
  micros: number;
  id: string;
}

export interface Retried {
  count: number;
  /** More may wait behind it. */
  end?: RetryPlace;
}

export interface RetryChoice {
  ids?: readonly string[] | undefined;
  /** JSON text of a filter on the data of their events. */
  filter?: string | undefined;
  after?: RetryPlace | undefined;
}

/**
 * Makes pending deliveries that wait for a retry due now, before what else is due, from the
 * beginning of their schedule. Those that are due already have waited for their webhook's turn.
 * Their lane comes round even where there are none: a retry before has made them due. Takes those
 * of `ids`, or all, whose event matches the filter. Examines at most LIMITS.maxRetriedNow. An
 * attempt under way is left to end.
 */
export async function retryPending(
  sql: Sql,
  accountId: string,
  webhookId: string,
  { ids, filter, after }: RetryChoice,
): Promise<Retried> {
  let [count, looked, place]: [number, number, RetryPlace | undefined] = [0, 0, after];
  while (looked < LIMITS.maxRetriedNow) {
    const limit = Math.min(RETRIED_AT_ONCE, LIMITS.maxRetriedNow - looked);
    const some = await retrySome(sql, { accountId, webhookId, ids, filter, after: place, limit });
    count += some.count;
    looked += some.looked;
    if (some.last === undefined) return { count };
    place = some.last;
  }
  // A delivery that is due now is behind nothing: the next request begins again.
  return place === undefined || filter === undefined ? { count } : { count, end: place };
}

interface Some extends RetryChoice {
  accountId: string;
  webhookId: string;
  limit: number;
}

interface WaitingRow {
  id: string;
  micros: number;
  data: string | null;
}

function retrySome(sql: Sql, some: Some): Promise<{ count: number; looked: number; last: RetryPlace | undefined }> {
  const { accountId, webhookId, filter } = some;
  return inIndexOrder(sql, async (tx) => {
    const waiting = await lockWaiting(tx, some);
    const judgeFor = createFilterJudges();
    const chosen = waiting.filter(
      ({ data }) => filter === undefined || (data !== null && judgeFor(accountId, data)(filter) === 'match'),
    );
    if (chosen.length > 0) {
      await tx`
        update deliveries set attempt_count = 0, next_trigger = 'manual', next_attempt_at = least(now(), (
          select next_attempt_at - interval '1 ms' from deliveries d
          where d.webhook_id = ${webhookId} and d.status = 'pending' and d.leased_by is null
          order by d.leased_by, d.next_attempt_at limit 1
        ))
        where webhook_id = ${webhookId} and id = any(${chosen.map(({ id }) => id)}::text[])`;
    }
    await addJobs(tx, [retriedLane(webhookId)]);
    const last = waiting.at(-1);
    return { count: chosen.length, looked: waiting.length, last: last && { micros: last.micros, id: last.id } };
  });
}

/**
 * The next deliveries in the order in which they are due, with the event data that a filter needs.
 */
function lockWaiting(
  tx: Transaction,
  { accountId, webhookId, ids, filter, after, limit }: Some,
): Promise<WaitingRow[]> {
  const chosen = tx`
    select webhook_id, id, next_attempt_at, emitter_id, indexed_at_ms, seq from deliveries
    where account_id = ${accountId} and webhook_id = ${webhookId} and status = 'pending' and leased_by is null
      and (next_attempt_at > now() or next_trigger is distinct from 'manual') and next_attempt_at < 'infinity'
      ${ids === undefined ? tx`` : tx`and id = any(${[...ids]}::text[])`}
      ${after === undefined ? tx`` : tx`and (next_attempt_at, id) > (timestamptz 'epoch' + ${after.micros}::float8 * interval '1 microsecond', ${after.id})`}
    order by leased_by, next_attempt_at, id limit ${limit} for update skip locked`;
  if (filter === undefined) {
    return tx<WaitingRow[]>`
      select id, ${microsOf(tx)}, null as data from (${chosen}) as c order by next_attempt_at, id`;
  }
  return tx<WaitingRow[]>`
    with c as (${chosen}), measured as (
      select c.id, c.next_attempt_at, e.data, sum(octet_length(e.data)) over (
          order by c.next_attempt_at, c.id rows between unbounded preceding and 1 preceding
        ) as bytes_before
      from c left join lateral (
        select data from events where emitter_id = c.emitter_id and indexed_at_ms = c.indexed_at_ms and seq = c.seq
          and account_id = ${accountId} limit 1
      ) as e on true
    )
    select id, ${microsOf(tx)}, data from measured
    where coalesce(bytes_before, 0) < ${MAX_DATA_BYTES}::int8 order by next_attempt_at, id`;
}

function microsOf(tx: Transaction) {
  return tx`(extract(epoch from next_attempt_at) * 1000000)::int8 as micros`;
}
