import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseUnavailable } from './lost-connection.ts';

export type Stop = () => Promise<void>;

/** The parts of something that runs, by name, in the order in which they were started. */
export type Stops = Readonly<Record<string, Stop>>;

interface Log {
  warn(details: object, message: string): void;
}

/** A part that takes longer is named in the log, so that a stop that hangs can be explained. */
const SLOW_MS = 4_000;

/** Time for a part to begin its end once the stop has given up. */
const GIVEN_UP_MS = 20;

/**
 * Stops the part that was started last first, and each, also where one before failed. Work that
 * only the database keeps from ending in order is left to other nodes: that is no failure. Rejects
 * with the first failure. `gaveUp`: once it is aborted, parts are asked to stop and not waited for.
 */
export async function stopInReverse(stops: Stops, log: Log, gaveUp?: AbortSignal): Promise<void> {
  const givenUp = gaveUp === undefined ? [] : [aborted(gaveUp).then(() => undefined)];
  const failures: unknown[] = [];
  for (const [part, stop] of Object.entries(stops).toReversed()) {
    const slow = setTimeout(() => log.warn({ part }, 'the stop waits for a part of the node'), SLOW_MS);
    const stopped = stop().catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) failures.push(error);
    });
    await Promise.race([stopped, ...givenUp.map((end) => end.then(() => sleep(GIVEN_UP_MS)))]);
    clearTimeout(slow);
  }
  if (failures.length > 0) throw failures[0];
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
