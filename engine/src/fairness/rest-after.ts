/** Work that took longer waited for something else than the work in it. */
const MAX_REST_MS = 100;

/**
 * How long a tenant that brings much rests after work of the database: others have half of the
 * time.
 */
export function restAfterMs(tookMs: number): number {
  return Math.min(tookMs, MAX_REST_MS);
}

/** Work up to this long needs no pause after it. */
const SHORT_MS = 10;

/** As restAfterMs, without a pause after short work. */
export function restAfterLongMs(tookMs: number): number {
  return tookMs > SHORT_MS ? restAfterMs(tookMs) : 0;
}
