import { isDatabaseUnavailable } from './lost-connection.ts';

export type Stop = () => Promise<void>;

/**
 * Last started, first stopped. Each is stopped, also where one before failed. What only the
 * database keeps from ending in order, other nodes take over: that is no failure. Rejects with the
 * first that is one.
 */
export async function stopInReverse(stops: readonly Stop[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops.toReversed()) {
    await stop().catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}
