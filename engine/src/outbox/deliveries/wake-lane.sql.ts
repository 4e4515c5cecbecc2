import { type Database, MAX_JOB_ATTEMPTS, sql } from '../../db/index.ts';
import { deliverLane } from './deliver-lane.ts';

/** Adds the lane job of a webhook in the transaction `tx`. */
export async function wakeLane(tx: Pick<Database['orm'], 'execute'>, webhookId: string): Promise<void> {
  const { task, payload, key } = deliverLane(webhookId);
  await tx.execute(sql`
    select add_jobs_in_order(array[${task}]::text[], array[${JSON.stringify(payload)}]::text[], array[0]::float8[],
      array[${key}]::text[], array[0]::int2[], ${MAX_JOB_ATTEMPTS}::int2)`);
}
