import { createTenantTurns, HeadwaterError, LIMITS } from '@headwater/shared';
import { restAfterMs } from './rest-after.ts';

/** Looks that may be under way. */
const AT_ONCE = 2;
/** With so many waiting, each place rests as long as its look took: a crowd's answers would come one on the heels of the other. */
const CROWD = 16;
const RETRY_AFTER_SECONDS = 10;

/**
 * For what anybody can have looked up in the database without a key, by a link that may be made up: however many do, they take so
 * many connections. Throws RATE_LIMITED where the turn has not come within LIMITS.maxRequestWaitMs.
 */
export type StrangersTurns = <T>(look: () => Promise<T>) => Promise<T>;

export function createStrangersTurns(): StrangersTurns {
  const turns = createTenantTurns(AT_ONCE);
  let waiting = 0;
  return async (look) => {
    waiting++;
    const end = await turns.take('', AbortSignal.timeout(LIMITS.maxRequestWaitMs)).finally(() => waiting--);
    if (end === undefined) {
      const message = 'Too many links are being looked up; try again later';
      throw new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    const beganMs = performance.now();
    try {
      return await look();
    } finally {
      if (waiting < CROWD) end();
      else setTimeout(end, restAfterMs(performance.now() - beganMs)).unref();
    }
  };
}
