import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { createBatcher, isDataError, type Batcher } from '../store/batcher.ts';
import type { Sql } from '../store/database.ts';
import { recordAttempts, type AttemptResult } from '../store/record-attempts.ts';

const MAX_BATCH = 256;
/** While one transaction commits the next fills; more would only make each smaller. */
const MAX_IN_FLIGHT = 2;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;

/**
 * Records attempts in batches. An attempt was made whether or not the database answers, so a batch is tried until it is
 * recorded or `giveUp` fires: forgetting it would send the event again. Answers false where the lease was lost.
 */
export function createOutcomeRecorder(options: {
  sql: Sql;
  nodeId: string;
  log: Log;
  giveUp: AbortSignal;
}): Batcher<AttemptResult, boolean> {
  const { sql, nodeId, log, giveUp } = options;

  async function commit(results: readonly AttemptResult[]): Promise<readonly boolean[]> {
    let batch = results;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        return await recordAttempts(sql, nodeId, batch);
      } catch (error) {
        if (giveUp.aborted) throw error;
        log.warn('Delivery attempts could not be recorded yet', { count: batch.length, error });
        // Only what receivers and failures said can be data that Postgres refuses.
        if (isDataError(error)) batch = batch.map(withoutTexts);
        await sleep(waitMs, undefined, { signal: giveUp });
      }
    }
  }

  return createBatcher({ maxBatch: MAX_BATCH, maxInFlight: MAX_IN_FLIGHT, commit });
}

function withoutTexts(result: AttemptResult): AttemptResult {
  const { at, duration_ms, status_code } = result.attempt;
  return { ...result, attempt: { at, duration_ms, ...(status_code === undefined ? {} : { status_code }) } };
}
