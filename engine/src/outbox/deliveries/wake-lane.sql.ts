import { MAX_JOB_ATTEMPTS } from '../../db/jobs/add-jobs.ts';
import type { Database } from '../../db/database.ts';
import { deliverLane } from './deliver-lane.ts';
import { sql } from '../../db/drizzle.ts';

/** Adds the lane job of a webhook in the transaction `tx`. */
export async function wakeLane(tx: Pick<Database['orm'], 'execute'>, webhookId: string): Promise<void> {
  const { task, payload, key } = deliverLane(webhookId);
  await tx.execute(sql`
    select add_jobs_in_order(array[${task}]::text[], array[${JSON.stringify(payload)}]::text[], array[0]::float8[],
      array[${key}]::text[], array[0]::int2[], ${MAX_JOB_ATTEMPTS}::int2)`);
}
