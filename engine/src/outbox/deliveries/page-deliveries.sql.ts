import { idFloor, idTimeMs, LIMITS } from '@headwater/shared';
import type postgres from 'postgres';
import type { DeliveryChoice, DeliveryStatus, PageRequest } from '../../contract/index.ts';
import {
  checkPageSize,
  countFitting,
  decodeCursor,
  encodeCursor,
  type IdPage,
  type Sql,
  type Transaction,
} from '../../db/index.ts';
import { inIndexOrder } from '../../events/index.ts';
import { type DeliveryWindow, windowOfMany, windowOfNearest } from './delivery-window.sql.ts';
import { shownStatus } from './shown-status.sql.ts';

type Fragment = postgres.PendingQuery<postgres.Row[]>;

export interface DeliveryKey {
  webhookId: string;
  id: string;
}

export interface DeliveryQuery extends DeliveryChoice {
  accountId: string;
  /** Default: all webhooks of the account. */
  webhookId?: string | undefined;
}

interface Look {
  choice: DeliveryQuery;
  after?: string | undefined;
  before?: string | undefined;
  limit: number;
}

interface Found {
  keys: DeliveryKey[];
  /** The look ended there before it found as many as were wanted. */
  end: string | undefined;
  /** How many fit, of all that were looked through. */
  fitting: number;
}

/**
 * One page of deliveries, newest first. Looks through a window of the key, which the cursor goes on
 * from: a filter that few rows pass costs no more than one that all pass. Throws INVALID_REQUEST
 * naming `limit`, `after` or `before`.
 */
export async function pageDeliveries(
  sql: Sql,
  choice: DeliveryQuery,
  { limit, ...page }: PageRequest,
): Promise<Omit<IdPage, 'ids'> & { keys: DeliveryKey[]; scannedUntilMs?: number }> {
  checkPageSize(limit);
  const after = decodeCursor('after', page.after)?.id;
  const before = decodeCursor('before', page.before)?.id;
  const [found, total] = await inIndexOrder(sql, async (tx) => {
    const some = await findPage(tx, { choice, after, before, limit });
    if (hasIndex(choice)) return [some, await countKeys(tx, choice)];
    const newest = after === undefined && before === undefined ? some : await findPage(tx, { choice, limit });
    return [some, Math.min(newest.fitting, LIMITS.maxCountedEvents)];
  });
  const { keys, end } = found;
  const isUpward = goesUpward({ after, before });
  const [first, last] = isUpward
    ? [end ?? keys[0]?.id, keys.at(-1)?.id ?? end]
    : [keys[0]?.id ?? end, end ?? keys.at(-1)?.id];
  const fitting = await countFittingKeys(sql, keys);
  const isWhole = fitting === keys.length;
  const shown = keys.slice(0, fitting);
  const endId = isWhole ? last : shown.at(-1)?.id;
  return {
    keys: shown,
    total,
    ...(first !== undefined && endId !== undefined ? { startCursor: cursorOf(first), endCursor: cursorOf(endId) } : {}),
    ...(isWhole && !isUpward && end !== undefined ? { scannedUntilMs: idTimeMs(end) ?? 0 } : {}),
  };
}

const cursorOf = (id: string) => encodeCursor({ id, micros: 0 });

const goesUpward = ({ after, before }: Pick<Look, 'after' | 'before'>) => before !== undefined && after === undefined;

/** Which rows of a webhook's key belong to it can be told by the key, or by deliveries_failed. */
function hasIndex({ statuses, errorClasses, emitId, text }: DeliveryQuery): boolean {
  if (errorClasses !== undefined || text !== undefined) return false;
  return emitId === undefined && (statuses === undefined || isFailedOnly(statuses));
}

const isFailedOnly = (statuses: readonly DeliveryStatus[]) => statuses.every((status) => status === 'failed');

async function findWindow(tx: Transaction, { choice, after, before, limit }: Look): Promise<DeliveryWindow> {
  const { webhookId } = choice;
  if (webhookId !== undefined)
    return { lanes: [{ webhookId, most: hasIndex(choice) ? limit : LIMITS.maxScannedDeliveries }], end: undefined };
  const isUpward = goesUpward({ after, before });
  const query = { ofAccount: ofAccount(tx, choice), inRange: inPage(tx, { choice, after, before }), isUpward };
  return hasIndex(choice) ? windowOfNearest(tx, query, limit) : windowOfMany(tx, query);
}

async function findPage(tx: Transaction, look: Look): Promise<Found> {
  const { choice, limit } = look;
  const isUpward = goesUpward(look);
  const { lanes, end } = await findWindow(tx, look);
  if (lanes.length === 0) return { keys: [], end: undefined, fitting: 0 };
  const direction = isUpward ? tx`asc` : tx`desc`;
  const [nearest, furthest] = isUpward ? [tx`min`, tx`max`] : [tx`max`, tx`min`];
  const upTo = (place: Fragment) => (isUpward ? tx`<= ${place}` : tx`>= ${place}`);
  const rows = await tx<{ webhook_id: string | null; id: string | null; place: string | null; fitting: number }[]>`
    with looked as materialized (
      select d.*, ${shownStatus(tx)} as shown_status, lane.most from unnest(
        ${lanes.map(({ webhookId }) => webhookId)}::text[], ${lanes.map(({ most }) => most)}::int4[]
      ) as lane(webhook_id, most) join webhooks w on w.id = lane.webhook_id cross join lateral (
        select ${columns(tx, choice)} from deliveries
        where webhook_id = lane.webhook_id and account_id = ${choice.accountId} and ${inPage(tx, look)}
          ${end === undefined ? tx`` : tx`and id ${upTo(tx`${end}`)}`}
        order by id ${direction} limit lane.most
      ) as d where ${ofAccount(tx, choice)}
    ), places as (
      select ${furthest}(id) as place from looked group by webhook_id, most having count(*) >= most
      union all select ${end ?? null}::text collate "C"
    ), ending as (
      select ${nearest}(place) as place from places
    ), fitting as materialized (
      select webhook_id, id from looked l where ${matches(tx, choice)}
    )
    select found.webhook_id, found.id, e.place, (select count(*)::int4 from fitting) as fitting
    from ending e left join lateral (
      select f.webhook_id, f.id from fitting f where e.place is null or f.id ${upTo(tx`e.place`)}
      order by f.id ${direction} limit ${limit}
    ) as found on true order by found.id ${direction}`;
  const keys = rows.flatMap(({ webhook_id: webhookId, id }) =>
    webhookId === null || id === null ? [] : [{ webhookId, id }],
  );
  return {
    keys: isUpward ? keys.toReversed() : keys,
    end: keys.length < limit ? (rows[0]?.place ?? undefined) : undefined,
    fitting: rows[0]?.fitting ?? 0,
  };
}

/**
 * Reads only the index: a webhook's deliveries belong to its account, so their rows need not be
 * read.
 */
async function countKeys(tx: Transaction, choice: DeliveryQuery): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int4 as count from (
      select from webhooks w cross join lateral (
        select from deliveries where webhook_id = w.id and ${inKeyRange(tx, choice)}
        order by id desc limit ${LIMITS.maxCountedEvents}
      ) as d where ${ofAccount(tx, choice)} limit ${LIMITS.maxCountedEvents}
    ) as counted`;
  return row?.count ?? 0;
}

function columns(tx: Transaction, { text }: DeliveryQuery): Fragment {
  return tx`webhook_id, id, status, leased_by, error_class, emitter_id, indexed_at_ms, seq
    ${text === undefined ? tx`` : tx`, attempts`}`;
}

function ofAccount(tx: Transaction, { accountId, webhookId }: DeliveryQuery): Fragment {
  return tx`w.account_id = ${accountId} ${webhookId === undefined ? tx`` : tx`and w.id = ${webhookId}`}`;
}

const inPage = (tx: Transaction, { choice, after, before }: Omit<Look, 'limit'>): Fragment =>
  tx`${inKeyRange(tx, choice)} ${after === undefined ? tx`` : tx`and id < ${after}`}
    ${before === undefined ? tx`` : tx`and id > ${before}`}`;

/** By the key: the id of a delivery carries the millisecond of its event. */
function inKeyRange(tx: Transaction, { statuses, since, until, emitId }: DeliveryQuery): Fragment {
  const ofEvent = emitId === undefined ? undefined : Number(/-(\d+)-\d+$/.exec(emitId)?.[1]);
  const floorMs = Math.max(since?.getTime() ?? 0, ofEvent ?? 0);
  const endMs = Math.min(until?.getTime() ?? Infinity, ofEvent === undefined ? Infinity : ofEvent + 1);
  return tx`id >= ${idFloor('delivery', floorMs)}
    ${endMs === Infinity ? tx`` : tx`and id < ${idFloor('delivery', endMs)}`}
    ${statuses !== undefined && isFailedOnly(statuses) ? tx`and status = 'failed'` : tx``}`;
}

/** The remaining conditions of the choice, for rows named `l`. */
function matches(tx: Transaction, { statuses, errorClasses, emitId, text }: DeliveryQuery): Fragment {
  return tx`true
    ${statuses === undefined ? tx`` : tx`and l.shown_status = any(${[...statuses]}::text[])`}
    ${errorClasses === undefined ? tx`` : tx`and l.error_class = any(${[...errorClasses]}::text[])`}
    ${emitId === undefined ? tx`` : tx`and l.emitter_id || '-' || l.indexed_at_ms || '-' || l.seq = ${emitId}`}
    ${text === undefined ? tx`` : tx`and ${contains(tx, text)}`}`;
}

/** Answers are searched as far as the record of their attempt has them. */
function contains(tx: Transaction, text: string): Fragment {
  return tx`(l.id = ${text} or exists (
    select from jsonb_array_elements(l.attempts) as made(a)
    where strpos(lower(concat_ws(E'\\n', a ->> 'error', a ->> 'response', a ->> 'response_headers', a ->> 'remote_address')), ${text.toLowerCase()}) > 0
  ))`;
}

function countFittingKeys(sql: Sql, keys: readonly DeliveryKey[]): Promise<number> {
  if (keys.length === 0) return Promise.resolve(0);
  return countFitting(sql, {
    keys: sql`${keys.map(({ webhookId }) => webhookId)}::text[] as webhook_ids, ${keys.map(({ id }) => id)}::text[] as ids`,
    count: keys.length,
    // Each attempt has what the receiver has answered.
    bytes: sql`select octet_length(attempts::text) from deliveries
      where webhook_id = webhook_ids[place + 1] and id = ids[place + 1]`,
  });
}
