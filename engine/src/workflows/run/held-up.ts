/** Shorter waits are a part of the ordinary cost of a step. */
const MIN_WAIT_MS = 1_000;

/**
 * How long a step was held up by this node instead of running: it waited for a commit that the
 * database did not take, or for the word that the execution is still this node's, or the node stood
 * still.
 */
export interface HeldUp {
  /** Counts what it takes, where that is long. Waits beside each other count once. */
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
