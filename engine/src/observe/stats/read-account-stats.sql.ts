import type { AccountStats } from '../../contract/stats.ts';
import type { Sql } from '../../db/database.ts';
import { statSums, type StatQuery } from './read-stats.sql.ts';

/** For the operator: what each account did in a range, by its totals, the most active first. */
export async function readAccountStats(
  sql: Sql,
  { rowSeconds, sinceMs, untilMs }: Omit<StatQuery, 'accountId' | 'stepSeconds'>,
  limit: number,
): Promise<Omit<AccountStats, 'waitingRuns' | 'waitingDeliveries'>[]> {
  const rows = await sql<(AccountStats['totals'] & { id: string; name: string })[]>`
    select a.id, a.name, sums.* from accounts a cross join lateral (
      select ${statSums(sql)} from stats
      where account_id = a.id and subject_id = a.id and step_seconds = ${rowSeconds}
        and began_ms >= ${sinceMs} and began_ms < ${untilMs}
      having count(*) > 0
    ) as sums
    order by received + delivered + "failedAttempts" desc, a.id limit ${limit}`;
  return rows.map(({ id, name, ...totals }) => ({ id, name, totals }));
}
