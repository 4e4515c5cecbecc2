import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

export interface EventuallyOptions {
  /**
   * Default 10 000. On a slow machine it takes longer: at least PATIENCE times as long is waited
   * before the test fails.
   */
  timeoutMs?: number;
  /** Default 10; longer during long waits. */
  everyMs?: number;
  /** Describes the condition in the error message. */
  what?: string;
}

/**
 * Pause as a share of the time waited so far. Polling a hundred times a second takes CPU time from
 * the awaited work; a wait that is a tenth longer does not matter.
 */
const PAUSE_SHARE = 0.1;
const MAX_PAUSE_MS = 100;
const PATIENCE = 3;
/** Processes that want one processor: the tests of a run by themselves. */
const USUAL_LOAD = 3;
const MAX_TIMES_SLOWER = 3;

/** A machine that has other work to do as well is waited for longer. */
function patience(): number {
  const timesUsual = (loadavg()[0] ?? 0) / availableParallelism() / USUAL_LOAD;
  return PATIENCE * Math.min(MAX_TIMES_SLOWER, Math.max(1, timesUsual));
}

/**
 * Calls `check` until it returns something other than false or undefined, and returns that. A
 * throwing check is repeated; its last error is the cause of the failure.
 */
export async function eventually<T>(
  check: () => Promise<T | false | undefined> | T | false | undefined,
  options: EventuallyOptions = {},
): Promise<T> {
  const { timeoutMs = 10_000, everyMs = 10 } = options;
  const startedAt = Date.now();
  const waitMs = Math.round(timeoutMs * patience());
  const deadline = startedAt + waitMs;
  let cause: unknown;
  for (;;) {
    try {
      const value = await check();
      if (value !== false && value !== undefined) return value;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    if (Date.now() >= deadline) break;
    const pauseMs = Math.min(MAX_PAUSE_MS, (Date.now() - startedAt) * PAUSE_SHARE);
    await sleep(Math.max(everyMs, pauseMs));
  }
  throw new Error(`Waited ${waitMs} ms in vain for ${options.what ?? check.toString()}`, { cause });
}
