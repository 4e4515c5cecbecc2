import { addJobs } from './add-jobs.ts';
import type { Sql } from './database.ts';
import { deliverLane } from './deliver-lane.ts';

/**
 * Gives back pending deliveries that a node has leased: all of them (the node ends, or was found dead), or those given. Lane
 * jobs that pick them up, due at `runAtMs` (default now), are added in the same transaction. Answers how many there were.
 */
export async function releaseDeliveries(
  sql: Sql,
  nodeId: string,
  only?: { ids: readonly string[]; runAtMs?: number },
): Promise<number> {
  return sql.begin(async (tx) => {
    const rows = await tx<{ webhook_id: string }[]>`
      update deliveries set leased_by = null
      where status = 'pending' and leased_by = ${nodeId}
        ${only === undefined ? tx`` : tx`and id = any(${[...only.ids]}::text[])`}
      returning webhook_id`;
    const webhookIds = new Set(rows.map((row) => row.webhook_id));
    await addJobs(
      tx,
      [...webhookIds].map((webhookId) => deliverLane(webhookId, only?.runAtMs)),
    );
    return rows.length;
  });
}
