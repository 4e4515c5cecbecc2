/** How long this process stood still: stopped by a signal, frozen, without a processor. */
export interface StallClock {
  /** Since the start, in all. */
  totalMs(): number;
  stop(): void;
}

const LOOK_EVERY_MS = 250;
/** Less than that is the ordinary lateness of a busy node. */
const MIN_STALL_MS = 1_000;

export function startStallClock(nowMs: () => number = () => performance.now()): StallClock {
  let lookedAtMs = nowMs();
  let total = 0;
  function look(): void {
    const now = nowMs();
    const lateMs = now - lookedAtMs - LOOK_EVERY_MS;
    lookedAtMs = now;
    if (lateMs >= MIN_STALL_MS) total += lateMs;
  }
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    // A process that goes on may read what came meanwhile before its timers.
    totalMs() {
      look();
      return total;
    },
    stop: () => clearInterval(timer),
  };
}
