import { createTenantTurns, HeadwaterError, LIMITS } from '@headwater/shared';

/** Looks that may be under way. */
const AT_ONCE = 2;
const RETRY_AFTER_SECONDS = 10;

/**
 * For what anybody can have looked up in the database without a key, by a link that may be made up: however many do, they take so
 * many connections. Throws RATE_LIMITED where the turn has not come within LIMITS.maxRequestWaitMs.
 */
export type StrangersTurns = <T>(look: () => Promise<T>) => Promise<T>;

export function createStrangersTurns(): StrangersTurns {
  const turns = createTenantTurns(AT_ONCE);
  return async (look) => {
    const end = await turns.take('', AbortSignal.timeout(LIMITS.maxRequestWaitMs));
    if (end === undefined) {
      const message = 'Too many links are being looked up; try again later';
      throw new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    try {
      return await look();
    } finally {
      end();
    }
  };
}
