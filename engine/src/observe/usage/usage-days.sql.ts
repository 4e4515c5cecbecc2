import type { UsageDay } from '../../contract/usage.ts';
import type { Sql } from '../../db/database.ts';

/** The days of an account on which something is known, the oldest first. Days are `2026-11-27`. */
export async function readUsageDays(
  sql: Sql,
  accountId: string,
  { from, last }: { from: string; last: string },
): Promise<UsageDay[]> {
  return sql<UsageDay[]>`
    select day::text, requests, runs, round(run_ms)::int8 as "runMs", round(cpu_ms)::int8 as "cpuMs", events, deliveries,
      attempts, bytes_in as "bytesIn", bytes_out as "bytesOut", storage_bytes as "storageBytes"
    from usage_days where account_id = ${accountId} and day >= ${from}::date and day <= ${last}::date order by day`;
}

/** Deletes days that are older. Answers how many, `limit` at most. */
export async function expireUsage(sql: Sql, keptDays: number, limit: number): Promise<number> {
  const rows = await sql`
    delete from usage_days where ctid = any(array(
      select ctid from usage_days where day < (now() at time zone 'utc')::date - ${keptDays}::int4
      order by day limit ${limit} for update skip locked
    ))`;
  return rows.count;
}
