import type { LimitsCache } from '../../accounts/index.ts';
import {
  addRunLanes,
  claimInvocations,
  deleteOrphanedInvocations,
  type Dispatcher,
  readSourceAccount,
} from '../../runs/index.ts';
import type { LaneTurns, PostponedLanes, RunSourcePayload, Sql } from '../../db/index.ts';
import type { Turns } from '../../workflows/index.ts';

/**
 * Invocations that one turn of a lane takes: enough to be cheap, few enough to be fair to other
 * sources.
 */
const LANE_BATCH = 64;

/** Rows of a deleted source that one turn deletes. */
const ORPHAN_BATCH = 5_000;

interface RunSourceOptions {
  sql: Sql;
  dispatcher: Dispatcher;
  postponed: PostponedLanes;
  turns: Pick<Turns, 'runLane'>;
  laneTurns: LaneTurns;
  limits: Pick<LimitsCache, 'get' | 'isSuspended'>;
}

/**
 * Claims waiting invocations of one source for this node. If some are left, the lane goes to the
 * back of the queue.
 */
export async function runSourceLane(
  options: RunSourceOptions,
  nodeId: () => string,
  payload: RunSourcePayload,
): Promise<void> {
  const { sql, turns, laneTurns } = options;
  const { sourceId } = payload;
  const emitter = await readSourceAccount(sql, sourceId);
  if (emitter === undefined) return dropOrphans(sql, sourceId);
  const { accountId, inTurn } = emitter;
  await options.limits.get(accountId);
  // Waiting invocations are held; the end of the suspension adds another job.
  if (options.limits.isSuspended(accountId)) return;
  if (inTurn) return turns.runLane({ accountId, workflowId: sourceId });
  return laneTurns.run(accountId, sourceId, () => claim(options, nodeId, { accountId, sourceId }));
}

/**
 * Answers how many characters their events have. `nodeId` is asked now: this may be long after the
 * job.
 */
async function claim(
  { sql, dispatcher, postponed, limits }: RunSourceOptions,
  nodeId: () => string,
  { accountId, sourceId }: { accountId: string; sourceId: string },
): Promise<number> {
  if (limits.isSuspended(accountId)) return 0;
  const limit = Math.min(LANE_BATCH, dispatcher.capacity(accountId));
  if (limit <= 0) {
    await addRunLanes(sql, [sourceId], postponed.nextTryMs(accountId));
    return 0;
  }
  const { held, more } = await claimInvocations(sql, sourceId, nodeId(), limit);
  dispatcher.take(held);
  // It may have been deleted while its lane waited for its turn.
  if (held.length === 0) await dropOrphans(sql, sourceId);
  if (more) await addRunLanes(sql, [sourceId]);
  return held.reduce((chars, { event }) => chars + event.length, 0);
}

async function dropOrphans(sql: Sql, sourceId: string): Promise<void> {
  const dropped = await deleteOrphanedInvocations(sql, sourceId, ORPHAN_BATCH);
  if (dropped === ORPHAN_BATCH) await addRunLanes(sql, [sourceId]);
}
