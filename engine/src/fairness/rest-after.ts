/** Work that took longer waited for something else than the work in it. */
const MAX_REST_MS = 100;

/**
 * How long a tenant that brings much rests after work of the database: others have half of the
 * time.
 */
export function restAfterMs(tookMs: number): number {
  return Math.min(tookMs, MAX_REST_MS);
}

/** Nobody notices it. */
const SHORT_MS = 10;

/** The same, where what is short follows without a rest. */
export function restAfterLongMs(tookMs: number): number {
  return tookMs > SHORT_MS ? restAfterMs(tookMs) : 0;
}
