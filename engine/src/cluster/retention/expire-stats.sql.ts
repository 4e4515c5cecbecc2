import { LIMITS } from '@headwater/shared';
import type { Sql } from '../../db/database.ts';
import type { Expiry } from './delete-expired.sql.ts';

/**
 * Maximum rows deleted per account and counter step in one call; the next call deletes the rest.
 */
const MAX_ROWS = 10_000;

/**
 * Deletes minute counters past LIMITS.minuteStatsKeptMs, and hour and day counters older than their
 * account's history. `beforeMs` 0: the account keeps hour and day counters for ever.
 */
export async function expireStats(sql: Sql, expiries: readonly Expiry[], nowMs: number): Promise<void> {
  const minutesBeforeMs = nowMs - LIMITS.minuteStatsKeptMs;
  await sql`
    delete from stats where ctid in (
      select old.ctid from unnest(
        ${expiries.map(({ id }) => id)}::text[], ${expiries.map(({ beforeMs }) => beforeMs)}::int8[]
      ) as x(account_id, before_ms)
        cross join lateral (values (60, greatest(${minutesBeforeMs}::int8, x.before_ms)), (3600, x.before_ms - 3600000),
          (86400, x.before_ms - 86400000))
          as kept(step_seconds, from_ms)
        cross join lateral (
          select s.ctid from stats s
          where s.account_id = x.account_id and s.step_seconds = kept.step_seconds and s.began_ms < kept.from_ms
          order by s.began_ms limit ${MAX_ROWS}
        ) as old
    )`;
}
