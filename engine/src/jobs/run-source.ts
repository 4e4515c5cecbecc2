import type { Dispatcher } from '../run/dispatcher.ts';
import { claimInvocations } from '../store/claim-invocations.ts';
import type { Sql } from '../store/database.ts';
import { addRunLanes } from '../store/insert-invocations.ts';
import { readSourceAccount } from '../store/read-source-account.ts';
import type { PostponedLanes } from './postponed-lanes.ts';
import type { RunSourcePayload } from './tasks.ts';

/** Invocations that one turn of a lane takes: enough to be cheap, few enough to be fair to other sources. */
const LANE_BATCH = 64;

interface RunSourceOptions {
  sql: Sql;
  dispatcher: Dispatcher;
  postponed: PostponedLanes;
}

/** Hands waiting invocations of one source to this node; what is left goes to the back of the queue. */
export async function runSourceLane(
  { sql, dispatcher, postponed }: RunSourceOptions,
  nodeId: string,
  payload: RunSourcePayload,
): Promise<void> {
  const accountId = await readSourceAccount(sql, payload.sourceId);
  if (accountId === undefined) return;
  const limit = Math.min(LANE_BATCH, dispatcher.capacity(accountId));
  if (limit <= 0) {
    await addRunLanes(sql, [payload.sourceId], postponed.nextTryMs(accountId));
    return;
  }
  const claimed = await claimInvocations(sql, payload.sourceId, nodeId, limit);
  dispatcher.take(claimed);
  if (claimed.length === limit) await addRunLanes(sql, [payload.sourceId]);
}
