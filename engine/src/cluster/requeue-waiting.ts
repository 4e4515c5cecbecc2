import type { Sql } from '../db/index.ts';
import { addRunLanes } from '../runs/index.ts';
import { readStalledLanes, requeueStalledDeliveries } from './requeue.sql.ts';
import { requeueStalledSends } from '../outbox/index.ts';

/**
 * Gives a lane to the invocations, deliveries and sends that have waited for one for so long. 0
 * when a node was lost: lanes that waited in its memory for the turn of their tenant have no job.
 */
export async function requeueWaiting(sql: Sql, afterMs: number): Promise<void> {
  await addRunLanes(sql, await readStalledLanes(sql, afterMs));
  await requeueStalledDeliveries(sql, afterMs);
  await requeueStalledSends(sql, afterMs);
}
