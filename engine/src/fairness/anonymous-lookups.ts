import { createLimiter, type ExceededLimit, HeadwaterError, LIMITS } from '@headwater/shared';

/** Looks that may be under way. */
const AT_ONCE = 2;
const RETRY_AFTER_SECONDS = 10;

/**
 * Limits lookups that need no key, through links that may be forged: together they take a few
 * database connections. Throws RATE_LIMITED after LIMITS.maxRequestWaitMs in the queue.
 */
export type AnonymousLookups = <T>(look: () => Promise<T>) => Promise<T>;

export function createAnonymousLookups(): AnonymousLookups {
  const turns = createLimiter(AT_ONCE);
  return async (look) => {
    const beganAtMs = performance.now();
    const end = await turns.take('', AbortSignal.timeout(LIMITS.maxRequestWaitMs));
    if (end === undefined) throw tooMany(performance.now() - beganAtMs);
    try {
      return await look();
    } finally {
      end();
    }
  };
}

function tooMany(waitedMs: number): HeadwaterError {
  const value = LIMITS.maxRequestWaitMs;
  const limit: ExceededLimit = { name: 'maxRequestWaitMs', value, used: Math.max(value, Math.round(waitedMs)) };
  const message = `Too many links are being looked up: this one waited ${value} ms for its turn; try again later`;
  return new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS, limit });
}
