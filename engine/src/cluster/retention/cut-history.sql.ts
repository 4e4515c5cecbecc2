import { maxBytes } from './add-history.sql.ts';
import type { Sql, Transaction } from '../../db/database.ts';

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
