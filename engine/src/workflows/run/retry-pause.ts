const FIRST_MS = 5_000;
const GROWTH = 4;
const MAX_MS = 6 * 3600 * 1000;
/** Steps that failed together do not come back together. */
const JITTER = 0.2;

/**
 * Pause of a step after `failures` failures: 5 s, 20 s, 80 s, … up to 6 hours, plus or minus a
 * fifth.
 */
export function retryPauseMs(failures: number, random: () => number = Math.random): number {
  const pauseMs = Math.min(FIRST_MS * GROWTH ** (failures - 1), MAX_MS);
  return Math.round(pauseMs * (1 - JITTER + 2 * JITTER * random()));
}
