import { LIMITS } from '@headwater/shared';
import type { Sql } from '../../db/index.ts';
import { uncountHistory } from '../../observe/index.ts';
import type { Expiry } from './delete-expired.sql.ts';

/**
 * Deletes traces of callers that are older than the history of the accounts whose emitters these
 * are; at most `limit`. Answers how many. Their bytes no longer count: expireHistory or cutHistory
 * has taken them off.
 */
export async function deleteExpiredTraces(sql: Sql, expiries: readonly Expiry[], limit: number): Promise<number> {
  const rows = await sql`
    delete from trace_contexts t using (
      select old.id from (
        select e.account_id, max(x.before_ms) as before_ms from unnest(
          ${expiries.map(({ id }) => id)}::text[], ${expiries.map(({ beforeMs }) => beforeMs)}::int8[]
        ) as x(id, before_ms) join emitters e on e.id = x.id group by e.account_id
      ) as x cross join lateral (
        select id from trace_contexts
        where account_id = x.account_id and created_at < to_timestamp(x.before_ms / 1000.0)
        order by created_at limit ${limit} for update skip locked
      ) as old limit ${limit}
    ) as old
    where t.id = old.id`;
  return rows.count;
}

interface FreedPart {
  accountId: string;
  beganMs: number;
  bytes: number;
}

/**
 * Deletes those that are older than so many days, however long their account keeps its history; at
 * most `limit`. Answers how many.
 */
export async function deleteOldTraces(sql: Sql, keptDays: number, limit: number): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<FreedPart[]>`
      delete from trace_contexts where id in (
        select id from trace_contexts where created_at < now() - make_interval(days => ${keptDays}::int4)
        order by created_at limit ${limit} for update skip locked
      )
      returning account_id as "accountId",
        floor(extract(epoch from created_at) * 1000 / ${LIMITS.historyPartMs}::int8)::int8 * ${LIMITS.historyPartMs}::int8 as "beganMs",
        ${LIMITS.historyRowBytes}::int4 + octet_length(traceparent) + coalesce(octet_length(tracestate), 0) as bytes`;
    const ofAccounts = [...Map.groupBy(rows, ({ accountId }) => accountId)];
    // In one order everywhere, so that two nodes never wait for each other's accounts.
    for (const [accountId, freed] of ofAccounts.toSorted(([one], [other]) => (one < other ? -1 : 1)))
      await uncountHistory(tx, accountId, sumParts(freed));
    return rows.length;
  });
}

function sumParts(freed: readonly FreedPart[]): { beganMs: number; bytes: number }[] {
  const parts = [...Map.groupBy(freed, ({ beganMs }) => beganMs)];
  return parts.map(([beganMs, rows]) => ({ beganMs, bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) }));
}
