import { isDatabaseUnavailable } from './lost-connection.ts';

export type Stop = () => Promise<void>;

/** The parts of something that runs, by name, in the order in which they were started. */
export type Stops = Readonly<Record<string, Stop>>;

interface Log {
  warn(details: object, message: string): void;
}

/** A part that takes longer is named in the log, so that a stop that hangs can be explained. */
const SLOW_MS = 4_000;

/**
 * Stops the part that was started last first, and each, also where one before failed. Work that
 * only the database keeps from ending in order is left to other nodes: that is no failure. Rejects
 * with the first failure.
 */
export async function stopInReverse(stops: Stops, log: Log): Promise<void> {
  const failures: unknown[] = [];
  for (const [part, stop] of Object.entries(stops).toReversed()) {
    const slow = setTimeout(() => log.warn({ part }, 'the stop waits for a part of the node'), SLOW_MS);
    await stop().catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) failures.push(error);
    });
    clearTimeout(slow);
  }
  if (failures.length > 0) throw failures[0];
}
