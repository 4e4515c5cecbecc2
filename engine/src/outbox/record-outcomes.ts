import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../contract/log.ts';
import { createBatcher, isDataError } from '../db/batcher.ts';

/** What an attempt led to. */
interface Outcome {
  status: 'pending' | 'delivered' | 'failed';
}

export interface OutcomeRecorderOptions<R> {
  /** Answers for each whether it was recorded: false where the lease was lost. */
  record: (results: readonly R[]) => Promise<readonly boolean[]>;
  /**
   * The same without what receivers and failures said: the only data that Postgres could refuse.
   */
  withoutTexts: (result: R) => R;
  /** Names one in the log: `{ delivery: 'dlv_…' }`. */
  describe: (result: R) => object;
  log: Log;
}

/**
 * Records attempts in batches. An attempt was made whether or not the database answers, so a batch
 * is tried again until it is recorded: forgetting it would send the same once more.
 */
export interface OutcomeRecorder<R> {
  /** Resolves when the attempt is recorded or its lease turned out to be lost. Never rejects. */
  record(result: R): Promise<void>;
  size(): number;
  stats(): { recording: number; delivered: number; retried: number; failed: number; lost: number };
  /** Gives what is not recorded yet a last try. */
  stop(): Promise<void>;
}

const MAX_BATCH = 256;
/** Nobody waits: the receiver has what it was sent. */
const MIN_INTERVAL_MS = 10;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;

export function createOutcomeRecorder<R extends Outcome>(options: OutcomeRecorderOptions<R>): OutcomeRecorder<R> {
  const { log } = options;
  const giveUp = new AbortController();
  const counts = { delivered: 0, retried: 0, failed: 0, lost: 0 };
  const batcher = createBatcher({ maxBatch: MAX_BATCH, minIntervalMs: MIN_INTERVAL_MS, commit });

  async function commit(results: readonly R[]): Promise<readonly boolean[]> {
    let batch = results;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        return await options.record(batch);
      } catch (error) {
        if (giveUp.signal.aborted) throw error;
        log.warn({ count: batch.length, err: error }, 'attempts could not be recorded yet');
        if (isDataError(error)) batch = batch.map(options.withoutTexts);
        // Aborted by stop: the last try follows at once.
        await sleep(waitMs, undefined, { signal: giveUp.signal }).catch(() => undefined);
      }
    }
  }

  return {
    async record(result) {
      try {
        if (await batcher.add(result)) counts[result.status === 'pending' ? 'retried' : result.status]++;
        else counts.lost++;
      } catch (error) {
        // Only while stopping. The row is released, by this node or by whoever finds it dead, and
        // attempted again.
        log.error({ ...options.describe(result), err: error }, 'an attempt could not be recorded');
      }
    },
    size: batcher.size,
    stats: () => ({ recording: batcher.size(), ...counts }),
    async stop() {
      giveUp.abort();
      await batcher.drain();
    },
  };
}
