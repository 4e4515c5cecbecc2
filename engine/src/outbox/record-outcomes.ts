import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../contract/index.ts';
import { createBatcher, growingInterval, failsEachTime, isDatabaseUnavailable, isDataError } from '../db/index.ts';

interface Outcome {
  status: 'pending' | 'delivered' | 'failed' | 'dropped';
}

export interface OutcomeRecorderOptions<R> {
  /** Answers for each whether it was recorded: false where the lease was lost. */
  record: (results: readonly R[]) => Promise<readonly boolean[]>;
  /**
   * The same without what receivers and failures said: the only data that Postgres could refuse.
   */
  withoutTexts: (result: R) => R;
  /** Nothing waits for the record of the attempt. Default: something does. */
  isUnawaited?: (result: R) => boolean;
  /**
   * An attempt was given up, neither through a fault of its data nor through an unreachable
   * database.
   */
  onUnrecorded?: ((error: unknown) => void) | undefined;
  /** Names one in the log: `{ delivery: 'dlv_…' }`. */
  describe: (result: R) => object;
  log: Log;
}

/**
 * Records attempts in batches. An attempt was made whether or not the database answers: while it is
 * away, or too busy, a batch is tried again until it is recorded, since forgetting it would send
 * the same once more. A statement that fails for another reason fails each time. Then each of the
 * batch is tried alone, and one that fails is given up: its row stays leased, is given back as one
 * that nothing holds, and is attempted again.
 */
export interface OutcomeRecorder<R> {
  /**
   * Resolves when the attempt is recorded, its lease turned out to be lost, or, a while after that,
   * it was given up. Never rejects.
   */
  record(result: R): Promise<void>;
  size(): number;
  stats(): { recording: number; delivered: number; retried: number; failed: number; dropped: number; lost: number };
  /** Tries once more to record all outcomes that are not recorded yet. */
  stop(): Promise<void>;
}

const MAX_BATCH = 256;
/** The receiver already has the request, but the next one of a key waits for the record. */
const INTERVAL_MS = growingInterval(10, 5);
/** In batches of their own: many of them come of dead receivers. */
const UNAWAITED_INTERVAL_MS = 100;
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 5_000;
/** A receiver hears of one that was given up no more often than this. */
const GIVEN_UP_MS = 60_000;

export function createOutcomeRecorder<R extends Outcome>(options: OutcomeRecorderOptions<R>): OutcomeRecorder<R> {
  const { log } = options;
  const giveUp = new AbortController();
  const counts = { delivered: 0, retried: 0, failed: 0, dropped: 0, lost: 0 };
  const batches = { maxBatch: MAX_BATCH, commit, isItemsFault: (error: unknown) => !isDatabaseUnavailable(error) };
  const ended = createBatcher({ ...batches, minIntervalMs: INTERVAL_MS });
  const unawaited = createBatcher({ ...batches, minIntervalMs: UNAWAITED_INTERVAL_MS });
  const size = () => ended.size() + unawaited.size();

  async function commit(results: readonly R[]): Promise<readonly boolean[]> {
    let batch = results;
    let hasTexts = true;
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, MAX_WAIT_MS)) {
      try {
        return await options.record(batch);
      } catch (error) {
        if (giveUp.signal.aborted) throw error;
        const blamesTexts = hasTexts && isDataError(error);
        if (!blamesTexts && !isDatabaseUnavailable(error)) throw error;
        log.warn({ count: batch.length, err: error }, 'attempts could not be recorded yet');
        if (blamesTexts) batch = batch.map(options.withoutTexts);
        if (blamesTexts) hasTexts = false;
        // Aborted by stop: the last try follows at once.
        await sleep(waitMs, undefined, { signal: giveUp.signal }).catch(() => undefined);
      }
    }
  }

  return {
    async record(result) {
      try {
        const batcher = options.isUnawaited?.(result) === true ? unawaited : ended;
        if (await batcher.add(result)) counts[result.status === 'pending' ? 'retried' : result.status]++;
        else counts.lost++;
      } catch (error) {
        // The row is released, by this node or by the node that finds it dead, and attempted again.
        log.error({ ...options.describe(result), err: error }, 'an attempt could not be recorded: it is made again');
        if (giveUp.signal.aborted) return;
        // One item's data are no reason to take the node out of service.
        if (!failsEachTime(error)) options.onUnrecorded?.(error);
        await sleep(GIVEN_UP_MS, undefined, { signal: giveUp.signal, ref: false }).catch(() => undefined);
      }
    },
    size,
    stats: () => ({ recording: size(), ...counts }),
    async stop() {
      giveUp.abort();
      await Promise.all([ended.drain(), unawaited.drain()]);
    },
  };
}
