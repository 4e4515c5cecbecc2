import { type Database, type JobSpec, MAX_JOB_ATTEMPTS, sql } from '../../db/index.ts';
import { deliverLane } from './deliver-lane.ts';

type OrmTransaction = Pick<Database['orm'], 'execute'>;

/** Adds the lane job of a webhook in the transaction `tx`. */
export const wakeLane = (tx: OrmTransaction, webhookId: string) => addJobIn(tx, deliverLane(webhookId));

/** Adds a job that is due now in the transaction `tx`. */
export async function addJobIn(tx: OrmTransaction, { task, payload, key }: JobSpec): Promise<void> {
  await tx.execute(sql`
    select add_jobs_in_order(array[${task}]::text[], array[${JSON.stringify(payload)}]::text[], array[0]::float8[],
      array[${key}]::text[], array[0]::int2[], ${MAX_JOB_ATTEMPTS}::int2)`);
}
