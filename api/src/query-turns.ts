import { createTenantTurns, endAtPace } from '@headwater/engine';
import { LIMITS } from '@headwater/shared';
import { requestsWait } from './requests-wait.ts';

/**
 * Turns of accounts at the database. All of a node's queries share a few connections, in the order of asking: a hundred lists
 * that one account asks for at once would be in front of everybody's next request, endpoints included (4 s, where a list takes
 * 0.3 s; a tenth of it with turns). And what they bring is made into answers on the node's only thread, megabytes for some tens of
 * milliseconds: beside others the next turn begins as much later as a large answer takes at a pace.
 */
export interface QueryTurns {
  /**
   * Runs it in turn; it answers with text, or with nothing. Throws RATE_LIMITED where its turn has not come within
   * LIMITS.maxRequestWaitMs.
   */
  run<T extends string | null>(accountId: string, query: () => Promise<T>): Promise<T>;
}

export interface QueryTurnsOptions {
  /** Whether requests of several accounts arrive. */
  hasOthers: () => boolean;
  /** Default: LIMITS.maxRequestWaitMs. */
  maxWaitMs?: number;
}

const PACE = { smallChars: LIMITS.smallAnswerChars, charsPerSecond: LIMITS.answerCharsPerSecond };

export function createQueryTurns({ hasOthers, maxWaitMs = LIMITS.maxRequestWaitMs }: QueryTurnsOptions): QueryTurns {
  const turns = createTenantTurns(LIMITS.maxQueriesPerTenant);
  return {
    async run(accountId, query) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), maxWaitMs).unref();
      const end = await turns.take(accountId, late.signal);
      clearTimeout(timer);
      if (end === undefined) throw requestsWait(maxWaitMs);
      let chars = 0;
      try {
        const text = await query();
        chars = text?.length ?? 0;
        return text;
      } finally {
        endAtPace(end, hasOthers() ? chars : 0, PACE);
      }
    },
  };
}
