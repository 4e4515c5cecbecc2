import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../contract/index.ts';
import { codeOf, isDatabaseAway } from '../lost-connection.ts';

export interface Persistence {
  /**
   * Repeats `work` until it succeeds or fails with a permanent error. `work` must be idempotent.
   */
  untilDone<T>(work: (tries: number) => Promise<T>): Promise<T>;
}

const FIRST_PAUSE_MS = 50;
/** The database is found again this long after it is back, at the latest. */
const MAX_PAUSE_MS = 500;
/** A database that is away for hours is told about, but does not fill the log. */
const LOG_EVERY_MS = 10_000;

/** Tries again while the database is away, and after deadlocks, until `stopping` is aborted. */
export function createPersistence({ stopping, log }: { stopping: AbortSignal; log: Log }): Persistence {
  let loggedMs = Number.NEGATIVE_INFINITY;
  return {
    async untilDone(work) {
      for (let tries = 0; ; tries++) {
        try {
          return await work(tries);
        } catch (err) {
          if (stopping.aborted || !heals(err)) throw err;
          if (performance.now() - loggedMs > LOG_EVERY_MS) {
            loggedMs = performance.now();
            log.warn({ err }, 'the database did not take or report jobs; it is tried again');
          }
          await sleep(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 4)));
        }
      }
    },
  };
}

/** pg's own errors have no code: a connection that ended, or was not established in time. */
const LOST = /connection|timeout|not queryable/i;

function heals(error: unknown): boolean {
  const code = codeOf(error);
  if (code === '') return error instanceof Error && LOST.test(error.message);
  return code === '40P01' || code === '40001' || isDatabaseAway(error);
}
