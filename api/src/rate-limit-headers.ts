import { type RateLimitState, REQUEST_BURST_SECONDS } from '@headwater/engine';
import type { AccountLimitName } from '@headwater/shared';
import type { Problem } from './problem.ts';

/** The name of the policy in the headers. */
const LIMIT: AccountLimitName = 'maxRequestsPerSecond';

export const RATE_LIMIT_HEADER = 'ratelimit';
export const RATE_LIMIT_POLICY_HEADER = 'ratelimit-policy';

/**
 * Headers of draft-ietf-httpapi-ratelimit-headers-11: the window's quota, the requests left, and
 * the seconds until the quota is full again.
 */
export function rateLimitHeaders({ perSecond, remaining, fullInSeconds }: RateLimitState) {
  return {
    [RATE_LIMIT_POLICY_HEADER]: `"${LIMIT}";q=${perSecond * REQUEST_BURST_SECONDS};w=${REQUEST_BURST_SECONDS}`,
    [RATE_LIMIT_HEADER]: `"${LIMIT}";r=${remaining};t=${Math.ceil(fullInSeconds)}`,
  };
}

/** The same for a request that the limit has refused; `t` is then the time of `retry-after`. */
export function rateLimitHeadersOf({ limit, retry_after_seconds }: Problem): Record<string, string> {
  if (limit?.name !== LIMIT || retry_after_seconds === undefined) return {};
  return rateLimitHeaders({ perSecond: limit.value, remaining: 0, fullInSeconds: retry_after_seconds });
}
