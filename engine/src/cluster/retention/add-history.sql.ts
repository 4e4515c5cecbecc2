import type { HistoryPart } from './history-meter.ts';
import { addCounted } from '../../db/add-counted.ts';
import type { Sql, Transaction } from '../../db/database.ts';

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
export function maxBytes(sql: Sql | Transaction, defaultBytes: number) {
  return sql`coalesce((a.limits ->> 'maxHistoryBytes')::int8, ${defaultBytes}::int8)`;
}
