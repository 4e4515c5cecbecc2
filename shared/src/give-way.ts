import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** What nobody notices. */
const TURN_MS = 2;
/** Twice as long: a request of somebody else needs the thread a dozen times, and waits for the end of a turn each time. */
const REST_MS = 4;

/**
 * For work of many steps that waits for nothing: called between them, it leaves the thread to others when that was busy for a
 * while. Work of one request can be thousands of steps, and promises alone never let go of the thread.
 */
export function createGiveWay(): () => Promise<void> {
  let restedAtMs = busyMs();
  return async () => {
    if (busyMs() - restedAtMs < TURN_MS) return;
    await sleep(REST_MS);
    restedAtMs = busyMs();
  };
}

/** Of this thread since its start, without what it waited for. */
function busyMs(): number {
  return performance.eventLoopUtilization().active;
}
