import { LIMITS } from '@headwater/shared';
import type { Sql } from '../db/database.ts';

/**
 * Deletes abandoned runs that are too old, and of each account the oldest beyond how many and how
 * much it may have. At most `limit`; answers how many. Reads the whole table, which is small: for
 * once in a while.
 */
export async function trimAbandonedRuns(sql: Sql, limit: number): Promise<number> {
  const rows = await sql`
    delete from abandoned_runs a using (
      select id from (
        select id, abandoned_at, row_number() over newest as place,
          sum(octet_length(event)::int8) over newest - octet_length(event) as bytes_before
        from abandoned_runs window newest as (partition by account_id order by id desc)
      ) as kept
      where place > ${LIMITS.maxAbandonedRuns} or bytes_before > ${LIMITS.maxAbandonedRunBytes}::int8
        or abandoned_at < now() - make_interval(days => ${LIMITS.abandonedRunDays})
      limit ${limit}
    ) as old
    where a.id = old.id`;
  return rows.count;
}
