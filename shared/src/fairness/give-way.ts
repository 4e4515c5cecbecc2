import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** A turn this short causes no delay that a user notices. */
const TURN_MS = 2;
/**
 * Twice as long: a request of another tenant needs the thread a dozen times, and each time waits
 * for the end of a turn.
 */
const REST_MS = 4;

type GiveWay = () => Promise<void>;

/**
 * For work of many steps that waits for nothing: called between them, it leaves the thread to
 * others when that was busy for a while. Work of one request can be thousands of steps, and
 * promises alone never let go of the thread. `begunAtMs`: 0 for work that is long in any case, and
 * waits before it begins.
 */
export const createGiveWay = createPauses();

/**
 * Creates separate pauses, for work that must not wait behind tenants' work. Pauses run one after
 * the other: hundreds of parallel pauses would all end at the same time.
 */
export function createPauses(): (begunAtMs?: number) => GiveWay {
  let resting: Promise<void> = Promise.resolve();
  let restedAtMs = 0;

  async function rest(): Promise<void> {
    await sleep(REST_MS);
    restedAtMs = busyMs();
  }

  return (begunAtMs = busyMs()) =>
    async () => {
      if (busyMs() - Math.max(begunAtMs, restedAtMs) < TURN_MS) return;
      resting = resting.then(rest);
      await resting;
    };
}

/** Time that this thread was busy since its start, without waiting. */
function busyMs(): number {
  return performance.eventLoopUtilization().active;
}
