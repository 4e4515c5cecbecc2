import { idFloor, LIMITS } from '@headwater/shared';
import type { EndedStatus } from '../../contract/index.ts';
import { addJobs, type Sql, type Transaction } from '../../db/index.ts';
import { createFilterJudges, inIndexOrder } from '../../events/index.ts';
import { deliverLane } from './deliver-lane.ts';
import { dueAgain, isFree } from './redeliver.sql.ts';

/** Deliveries of one transaction: a neighbour waits for one of its rows a fraction of a second. */
const LOOKED_AT_ONCE = 1_000;
/** Event data that are read in one transaction, for a filter. */
const MAX_DATA_BYTES = 4 * 1024 * 1024;

export interface MatchingDeliveries {
  accountId: string;
  webhookId: string;
  statuses: readonly EndedStatus[];
  ids?: readonly string[] | undefined;
  errorClasses?: readonly string[] | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  /** JSON text of a filter on the data of their events. */
  filter?: string | undefined;
  /** The id of a delivery: those that come after it. */
  after?: string | undefined;
  /** Counts them, and changes nothing. */
  isDryRun: boolean;
}

interface Matched {
  count: number;
  /** The last delivery that was looked at, where more may match behind it. */
  end?: string;
}

/**
 * Makes deliveries that have ended due again, the oldest first, from the beginning of their
 * schedule. A request looks at LIMITS.maxRedeliveries of the webhook. It passes over deliveries
 * that an attempt still holds, and those whose event was deleted.
 */
export async function redeliverMatching(sql: Sql, choice: MatchingDeliveries): Promise<Matched> {
  let [count, looked, after]: [number, number, string] = [0, 0, choice.after ?? ''];
  while (looked < LIMITS.maxRedeliveries) {
    const some = await redeliverSome(sql, { ...choice, after });
    count += some.count;
    looked += some.looked;
    if (some.last === undefined) return { count };
    after = some.last;
  }
  return { count, end: after };
}

function redeliverSome(sql: Sql, choice: MatchingDeliveries & { after: string }) {
  return inIndexOrder(sql, async (tx) => {
    const looked = await lookAt(tx, choice);
    const fitting = looked.filter(({ fits }) => fits).map(({ id }) => id);
    const { rows, isCut } = fitting.length === 0 ? NONE : await readFitting(tx, choice, fitting);
    const judgeFor = createFilterJudges();
    const { accountId, webhookId, filter, isDryRun } = choice;
    const due = rows.filter(
      ({ hasEvent, data }) =>
        hasEvent && (filter === undefined || (data !== null && judgeFor(accountId, data)(filter) === 'match')),
    );
    if (due.length > 0 && !isDryRun) {
      await tx`
        update deliveries set ${dueAgain(tx)}
        where webhook_id = ${webhookId} and id = any(${due.map(({ id }) => id)}::text[])`;
      await addJobs(tx, [deliverLane(webhookId)]);
    }
    const next = looked.length === LOOKED_AT_ONCE ? looked.at(-1)?.id : undefined;
    return { count: due.length, looked: looked.length, last: isCut ? rows.at(-1)?.id : next };
  });
}

/** In the order of their keys; `deliveries_failed` serves those that have failed. */
function lookAt(tx: Transaction, choice: MatchingDeliveries & { after: string }) {
  const { accountId, webhookId, statuses, ids, errorClasses, since, until, after } = choice;
  const isFailedOnly = statuses.every((status) => status === 'failed');
  return tx<{ id: string; fits: boolean }[]>`
    select d.id, d.status = any(${[...statuses]}::text[]) and ${isFree(tx)}
        ${errorClasses === undefined ? tx`` : tx`and d.error_class = any(${[...errorClasses]}::text[])`} as fits
    from deliveries d where d.account_id = ${accountId} and d.webhook_id = ${webhookId} and d.id > ${after}
      ${isFailedOnly ? tx`and d.status = 'failed'` : tx``}
      ${ids === undefined ? tx`` : tx`and d.id = any(${[...ids]}::text[])`}
      ${since === undefined ? tx`` : tx`and d.id >= ${idFloor('delivery', since.getTime())}`}
      ${until === undefined ? tx`` : tx`and d.id < ${idFloor('delivery', until.getTime())}`}
    order by d.id limit ${LOOKED_AT_ONCE}`;
}

interface FittingRow {
  id: string;
  hasEvent: boolean;
  data: string | null;
  total: number;
}

const NONE: { rows: FittingRow[]; isCut: boolean } = { rows: [], isCut: false };

/** Locks them, and answers as many as their data allow. */
async function readFitting(
  tx: Transaction,
  { accountId, webhookId, statuses, filter, isDryRun }: MatchingDeliveries,
  ids: readonly string[],
): Promise<{ rows: FittingRow[]; isCut: boolean }> {
  const data = filter === undefined ? tx`null::text` : tx`e.data`;
  const rows = await tx<FittingRow[]>`
    with c as materialized (
      select d.id, d.emitter_id, d.indexed_at_ms, d.seq from deliveries d
      where d.webhook_id = ${webhookId} and d.id = any(${[...ids]}::text[]) and d.status = any(${[...statuses]}::text[])
        and ${isFree(tx)} order by d.id ${isDryRun ? tx`` : tx`for update of d skip locked`}
    ), measured as (
      select c.id, e.emitter_id is not null as "hasEvent", ${data} as data, count(*) over ()::int4 as total,
        sum(coalesce(octet_length(${data}), 0)) over (order by c.id rows between unbounded preceding and 1 preceding) as before
      from c left join events e on e.emitter_id = c.emitter_id and e.indexed_at_ms = c.indexed_at_ms and e.seq = c.seq
        and e.account_id = ${accountId}
    )
    select id, "hasEvent", data, total from measured
    where coalesce(before, 0) < ${MAX_DATA_BYTES}::int8 order by id`;
  return { rows, isCut: rows.length < (rows[0]?.total ?? 0) };
}
