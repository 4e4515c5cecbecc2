import { performance } from 'node:perf_hooks';

const WINDOW_MS = 50;
const BUSY_SHARE = 0.75;
/** The thread stays marked busy for a while: throttled requests make it look idle. */
const BUSY_FOR_MS = 500;

/** Whether this thread was almost fully busy lately. Costs no time between calls. */
export function watchThreadLoad(): () => boolean {
  let before = performance.eventLoopUtilization();
  let lookedAtMs = performance.now();
  let busyUntilMs = 0;
  return () => {
    const nowMs = performance.now();
    if (nowMs - lookedAtMs >= WINDOW_MS) {
      const current = performance.eventLoopUtilization();
      if (performance.eventLoopUtilization(current, before).utilization > BUSY_SHARE) busyUntilMs = nowMs + BUSY_FOR_MS;
      before = current;
      lookedAtMs = nowMs;
    }
    return nowMs < busyUntilMs;
  };
}
