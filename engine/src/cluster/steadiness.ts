/** Whether this node's own heartbeats come in time, and so those of others can be expected to. */
export interface Steadiness {
  /** A heartbeat has reached the database. */
  beat(): void;
  /** They have come in time for `steadyMs`, and still do. */
  isSteady(): boolean;
}

/** `gapMs`: between two heartbeats, after which one is late. */
export function createSteadiness(
  options: { gapMs: number; steadyMs: number },
  nowMs = () => performance.now(),
): Steadiness {
  let sinceMs = nowMs();
  let lastMs = sinceMs;
  return {
    beat() {
      const beatMs = nowMs();
      if (beatMs - lastMs > options.gapMs) sinceMs = beatMs;
      lastMs = beatMs;
    },
    isSteady: () => nowMs() - lastMs <= options.gapMs && nowMs() - sinceMs >= options.steadyMs,
  };
}
