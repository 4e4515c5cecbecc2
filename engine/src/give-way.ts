import { setImmediate } from 'node:timers/promises';

/** As long as nobody notices. */
const TURN_MS = 5;

/**
 * For work of many steps that waits for nothing: called between them, it lets others have the thread when the work has held it for
 * some milliseconds. Work of one request can be a hundred steps, and promises alone never let go of the thread.
 */
export function createGiveWay(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < TURN_MS) return;
    await setImmediate();
    sinceMs = performance.now();
  };
}
