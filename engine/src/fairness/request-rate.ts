import type { RateLimitState } from '../contract/index.ts';

/**
 * A token bucket for each name: what comes faster than its rate is refused once its burst is used
 * up.
 */
export interface RequestRate {
  /** Counts a request. Where none is left `waitSeconds` is how long it is until one may come. */
  take(name: string, perSecond: number): RateLimitState & { waitSeconds: number };
}

/** Seconds of the rate that accumulate while no request comes. */
export const REQUEST_BURST_SECONDS = 10;
const MAX_BUCKETS = 50_000;

interface Bucket {
  tokens: number;
  atMs: number;
}

/** `nowMs` never goes back. */
export function createRequestRate(nowMs: () => number): RequestRate {
  // In the order of their last use.
  const buckets = new Map<string, Bucket>();

  function bucketOf(name: string, perSecond: number): Bucket {
    const atMs = nowMs();
    const burst = perSecond * REQUEST_BURST_SECONDS;
    const before = buckets.get(name);
    const tokens = before === undefined ? burst : before.tokens + ((atMs - before.atMs) / 1000) * perSecond;
    buckets.delete(name);
    // One that was not used for longer than all others is the likeliest to be full again, which is
    // like none.
    if (buckets.size >= MAX_BUCKETS) buckets.delete(buckets.keys().next().value as string);
    const bucket = { tokens: Math.min(burst, tokens), atMs };
    buckets.set(name, bucket);
    return bucket;
  }

  return {
    take(name, perSecond) {
      const bucket = bucketOf(name, perSecond);
      const waitSeconds = bucket.tokens < 1 ? (1 - bucket.tokens) / perSecond : 0;
      if (waitSeconds === 0) bucket.tokens -= 1;
      const fullInSeconds = REQUEST_BURST_SECONDS - bucket.tokens / perSecond;
      return { perSecond, remaining: Math.floor(bucket.tokens), fullInSeconds, waitSeconds };
    },
  };
}
