import { LIMITS } from '@headwater/shared';
import { addCounted, type Sql, type Transaction } from '../../db/index.ts';
import type { Expiry } from './delete-expired.sql.ts';
import type { HistoryPart } from './history-meter.ts';

/**
 * Adds written bytes to the history parts of each account, all in one statement. Skips deleted
 * accounts and parts that were cut off meanwhile. `defaultBytes`: the limit of accounts without one
 * of their own. Returns the accounts that are over their limit. Rejects with UnansweredAddition if
 * the outcome is unknown: the parts must not be added again yet.
 */
export function addHistory(sql: Sql, parts: readonly HistoryPart[], defaultBytes: number): Promise<string[]> {
  return addCounted(sql, (tx) => addParts(tx, parts, defaultBytes));
}

async function addParts(tx: Transaction, parts: readonly HistoryPart[], defaultBytes: number): Promise<string[]> {
  // `stored` reads `sums`: the row of an account is locked before its parts are, and rows of
  // accounts in their order.
  const rows = await tx<{ account_id: string }[]>`
    with added as (
      select x.* from unnest(
        ${parts.map((part) => part.accountId)}::text[], ${parts.map((part) => part.beganMs)}::int8[],
        ${parts.map((part) => part.bytes)}::int8[]
      ) as x(account_id, began_ms, bytes) join accounts a on a.id = x.account_id
        left join account_histories h on h.account_id = a.id
      where x.began_ms >= coalesce(h.kept_from_ms, 0)
    ), sums as (
      insert into account_histories as h (account_id, bytes)
      select account_id, sum(bytes)::int8 from added group by account_id order by account_id
      on conflict (account_id) do update set bytes = h.bytes + excluded.bytes
      returning account_id, bytes
    ), stored as (
      insert into history_parts as p (account_id, began_ms, bytes)
      select account_id, began_ms, added.bytes from added join sums using (account_id) order by account_id, began_ms
      on conflict (account_id, began_ms) do update set bytes = p.bytes + excluded.bytes
    )
    select account_id from sums join accounts a on a.id = account_id where sums.bytes > ${maxBytes(tx, defaultBytes)}`;
  return rows.map((row) => row.account_id);
}

/** maxHistoryBytes of the account `a`. */
function maxBytes(sql: Sql | Transaction, defaultBytes: number) {
  return sql`coalesce((a.limits ->> 'maxHistoryBytes')::int8, ${defaultBytes}::int8)`;
}

export interface HistoryCut {
  /** History before this time is deleted, in epoch milliseconds. */
  keptFromMs: number;
  /** Bytes before `keptFromMs`, which no longer count. */
  bytes: number;
}

/** Parts that one statement looks at. */
const MAX_PARTS = 1_000;

/**
 * Takes the oldest parts off an account's history until the rest is within its limit. Keeps the
 * newest part, which is still being written. Retention deletes the rows later. Returns undefined if
 * nothing was taken off.
 */
export async function cutHistory(sql: Sql, accountId: string, defaultBytes: number): Promise<HistoryCut | undefined> {
  return sql.begin(async (tx) => {
    const [over] = await tx<{ bytes: number }[]>`
      select h.bytes - ${maxBytes(sql, defaultBytes)} as bytes
      from account_histories h join accounts a on a.id = h.account_id where h.account_id = ${accountId} for update of h`;
    let cut: HistoryCut | undefined;
    for (let left = over?.bytes ?? 0; left > 0; ) {
      const more = await deleteOldest(tx, accountId, left);
      if (more === undefined) break;
      left -= more.bytes;
      cut = { keptFromMs: more.keptFromMs, bytes: more.bytes + (cut?.bytes ?? 0) };
    }
    return cut;
  });
}

/** As many parts as have `bytes` together, and not the newest. */
async function deleteOldest(tx: Transaction, accountId: string, bytes: number): Promise<HistoryCut | undefined> {
  const [cut] = await tx<HistoryCut[]>`
    with oldest as (
      select began_ms, bytes, sum(bytes) over (order by began_ms) - bytes as before, lead(began_ms) over (order by began_ms) as next_ms
      from (
        select began_ms, bytes from history_parts where account_id = ${accountId} order by began_ms limit ${MAX_PARTS}
      ) as p
    ), gone as (
      delete from history_parts p using oldest o
      where p.account_id = ${accountId} and p.began_ms = o.began_ms and o.before < ${bytes}::int8 and o.next_ms is not null
      returning p.bytes, o.next_ms
    )
    update account_histories h set bytes = h.bytes - cut.bytes, kept_from_ms = greatest(h.kept_from_ms, cut.next_ms)
    from (select sum(bytes)::int8 as bytes, max(next_ms) as next_ms from gone) as cut
    where h.account_id = ${accountId} and cut.bytes is not null
    returning h.kept_from_ms as "keptFromMs", cut.bytes`;
  return cut;
}

interface KeptHistory {
  id: string;
  /** For which it is kept; 0 is for ever. */
  days: number;
  /** It is more than maxHistoryBytes. */
  isOver: boolean;
}

/** Accounts that have history, in the order of their ids, the first ones after `after`. */
export async function readHistoriesKept(
  sql: Sql,
  {
    after,
    limit,
    defaultDays,
    defaultBytes,
  }: { after: string; limit: number; defaultDays: number; defaultBytes: number },
): Promise<KeptHistory[]> {
  return sql<KeptHistory[]>`
    select a.id, coalesce((a.limits ->> 'eventRetentionDays')::float8, ${defaultDays}::float8) as days,
      h.bytes > ${maxBytes(sql, defaultBytes)} as "isOver"
    from account_histories h join accounts a on a.id = h.account_id
    where h.account_id > ${after} order by h.account_id limit ${limit}`;
}

/** Stops counting history that retention has deleted, or soon deletes, because of its age. */
export async function expireHistory(sql: Sql, expiries: readonly Expiry[]): Promise<void> {
  await sql`
    with old as (
      select h.account_id, x.before_ms
      from unnest(
        ${expiries.map(({ id }) => id)}::text[], ${expiries.map(({ beforeMs }) => beforeMs - LIMITS.historyPartMs)}::int8[]
      ) as x(account_id, before_ms) join account_histories h on h.account_id = x.account_id
      where exists (select from history_parts p where p.account_id = x.account_id and p.began_ms <= x.before_ms)
      order by h.account_id for update of h
    ), gone as (
      delete from history_parts p using old where p.account_id = old.account_id and p.began_ms <= old.before_ms
      returning p.account_id, p.bytes
    )
    update account_histories h set bytes = h.bytes - g.bytes
    from (select account_id, sum(bytes)::int8 as bytes from gone group by account_id) as g
    where h.account_id = g.account_id`;
}
