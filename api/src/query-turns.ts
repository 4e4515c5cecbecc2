import { createTenantTurns } from '@headwater/engine';
import { HeadwaterError, LIMITS } from '@headwater/shared';

/**
 * Turns of accounts at the database. All of a node's queries share a few connections, in the order of asking: a hundred lists
 * that one account asks for at once would be in front of everybody's next request, endpoints included (4 s, where a list takes
 * 0.3 s; 20 ms with turns).
 */
export interface QueryTurns {
  /** Runs it in turn. Throws RATE_LIMITED where its turn has not come within LIMITS.maxRequestWaitMs. */
  run<T>(accountId: string, query: () => Promise<T>): Promise<T>;
}

export function createQueryTurns(maxWaitMs: number = LIMITS.maxRequestWaitMs): QueryTurns {
  const turns = createTenantTurns(LIMITS.maxQueriesPerTenant);
  return {
    async run(accountId, query) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), maxWaitMs).unref();
      const end = await turns.take(accountId, late.signal);
      clearTimeout(timer);
      if (end === undefined) throw tooMany(maxWaitMs);
      try {
        return await query();
      } finally {
        end();
      }
    },
  };
}

function tooMany(maxWaitMs: number): HeadwaterError {
  return new HeadwaterError('RATE_LIMITED', 'Requests of this account wait for each other; try again later', {
    retryAfterSeconds: Math.ceil(maxWaitMs / 1_000),
  });
}
