import type { Dispatcher } from '../run/dispatcher.ts';
import { claimInvocations } from '../store/claim-invocations.ts';
import type { Sql } from '../store/database.ts';
import { addRunLanes } from '../store/insert-invocations.ts';
import type { RunSourcePayload } from './tasks.ts';

/** Invocations that one turn of a lane takes: enough to be cheap, few enough to be fair to other sources. */
const LANE_BATCH = 64;

/** A node without room looks again after this long; others may take the lane meanwhile. */
const RETRY_MS = 500;

/** Hands waiting invocations of one source to this node; what is left goes to the back of the queue. */
export async function runSourceLane(
  sql: Sql,
  dispatcher: Dispatcher,
  nodeId: string,
  payload: RunSourcePayload,
): Promise<void> {
  const limit = Math.min(LANE_BATCH, dispatcher.capacity());
  if (limit <= 0) {
    await addRunLanes(sql, [payload.sourceId], Date.now() + RETRY_MS);
    return;
  }
  const claimed = await claimInvocations(sql, payload.sourceId, nodeId, limit);
  dispatcher.take(claimed);
  if (claimed.length === limit) await addRunLanes(sql, [payload.sourceId]);
}
