import { isDatabaseUnavailable } from './lost-connection.ts';

/**
 * Each is stopped, also where one before failed. What only the database keeps from ending in order,
 * other nodes take over: that is no failure. Rejects with the first that is one.
 */
export async function stopInOrder(stops: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stop of stops) {
    await stop().catch((error: unknown) => {
      if (!isDatabaseUnavailable(error)) failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
}
