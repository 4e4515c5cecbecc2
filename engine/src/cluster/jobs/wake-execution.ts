import { createBatcher } from '../../db/batcher.ts';
import type { Sql } from '../../db/database.ts';
import { wakeExecutions } from '../../workflows/run/wake-executions.sql.ts';
import type { WakeExecutionPayload } from '../../db/jobs/tasks.ts';

const MAX_BATCH = 64;
/** Those that wake together share a transaction; one that comes alone does not wait. */
const MIN_INTERVAL_MS = 5;

/** Wakes executions that have waited. Rejects where that is to be tried again. */
export function createWaker(sql: Sql): (payload: WakeExecutionPayload) => Promise<void> {
  const batcher = createBatcher<string, void>({
    maxBatch: MAX_BATCH,
    minIntervalMs: MIN_INTERVAL_MS,
    commit: async (ids) => {
      await wakeExecutions(sql, ids);
      return ids.map(() => undefined);
    },
  });
  return ({ executionId }) => batcher.add(executionId);
}
