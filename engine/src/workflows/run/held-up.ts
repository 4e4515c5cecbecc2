/** Shorter waits are a part of the ordinary cost of a step. */
const MIN_WAIT_MS = 1_000;

/**
 * Time that this node delayed a step instead of running it. The step waited for a commit or for the
 * confirmation of the lease, or the node stalled.
 */
export interface HeldUp {
  /** Counts the time of `wait`, if it is long. Concurrent waits count once. */
  during<T>(wait: Promise<T>): Promise<T>;
  ms(): number;
}

export function createHeldUp(stalledMs: () => number): HeldUp {
  const stalledBeforeMs = stalledMs();
  let open = 0;
  let sinceMs = 0;
  let waitedMs = 0;
  const openMs = () => (open === 0 ? 0 : performance.now() - sinceMs);
  const ifLong = (ms: number) => (ms < MIN_WAIT_MS ? 0 : ms);
  return {
    async during(wait) {
      if (open === 0) sinceMs = performance.now();
      open += 1;
      try {
        return await wait;
      } finally {
        if (open === 1) waitedMs += ifLong(openMs());
        open -= 1;
      }
    },
    // A wait in a process that stands still is counted as one of the two.
    ms: () => Math.max(waitedMs + ifLong(openMs()), stalledMs() - stalledBeforeMs),
  };
}
