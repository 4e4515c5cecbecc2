import { addJobs } from './add-jobs.ts';
import type { Sql } from './database.ts';
import { deliverLane } from './deliver-lane.ts';

/**
 * Adds lane jobs for webhooks with deliveries that have been due and leased by nobody for `olderThanMs`. Rows and jobs land
 * together, so there are none unless a job was lost after that: one locked by a node that was killed is not started again
 * for hours. Meant to be called now and then. Answers the number of webhooks.
 */
export async function requeueStalledDeliveries(sql: Sql, olderThanMs: number): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<{ webhook_id: string }[]>`
      select distinct webhook_id from deliveries
      where status = 'pending' and leased_by is null
        and next_attempt_at < now() - make_interval(secs => ${olderThanMs / 1_000})`;
    await addJobs(
      tx,
      rows.map((row) => deliverLane(row.webhook_id)),
    );
    return rows.length;
  }) as Promise<number>;
}
