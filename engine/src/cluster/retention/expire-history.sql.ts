import { LIMITS } from '@headwater/shared';
import { maxBytes } from './add-history.sql.ts';
import type { Sql } from '../../db/database.ts';
import type { Expiry } from './delete-expired.sql.ts';

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
