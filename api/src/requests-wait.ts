import { HeadwaterError, LIMITS, platformLimit } from '@headwater/shared';

/** Error for a request that waited too long for its turn. */
export function requestsWait(waitMs: number): HeadwaterError {
  return new HeadwaterError('RATE_LIMITED', 'Requests of this account wait for each other; try again later', {
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
    limit: platformLimit('maxRequestWaitMs', Math.max(LIMITS.maxRequestWaitMs, Math.ceil(waitMs))),
  });
}
