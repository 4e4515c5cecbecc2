import { pauseAtPaceMs, restAfterLongMs } from '@headwater/engine';
import { createLimiter, LIMITS } from '@headwater/shared';
import { requestsWait } from './requests-wait.ts';

/**
 * Turns of accounts at the database. All of a node's queries share a few connections, in the order
 * of asking: a hundred lists that one account asks for at once would be in front of everybody's
 * next request, endpoints included (4 s, where a list takes 0.3 s; a tenth of it with turns). And
 * what they bring is made into answers on the node's only thread, megabytes for some tens of
 * milliseconds: beside others the next turn begins as much later as what was read takes at a pace,
 * however little of it is answered, or as a long look at the database took.
 */
export interface QueryTurns {
  /**
   * Runs it in turn; it answers with text (or its bytes), or with nothing, and counts what it has
   * read and does not answer. Throws RATE_LIMITED where its turn has not come within
   * LIMITS.maxRequestWaitMs.
   */
  run<T extends { length: number } | null>(accountId: string, query: (count: CountChars) => Promise<T>): Promise<T>;
}

/** Is told of characters that were read and are not answered. */
export type CountChars = (chars: number) => void;

export interface QueryTurnsOptions {
  /** Whether requests of several accounts arrive. */
  hasOthers: () => boolean;
  /** Default: LIMITS.maxRequestWaitMs. */
  maxWaitMs?: number;
}

const PACE = { smallChars: LIMITS.smallAnswerChars, charsPerSecond: LIMITS.answerCharsPerSecond };

export function createQueryTurns({ hasOthers, maxWaitMs = LIMITS.maxRequestWaitMs }: QueryTurnsOptions): QueryTurns {
  const turns = createLimiter(LIMITS.maxQueriesPerTenant);
  // An account has no more of those that wait here than of turns, so first come, first served is
  // fair.
  const places = createLimiter(LIMITS.maxQueries);
  async function take(accountId: string, late: AbortSignal) {
    const end = await turns.take(accountId, late);
    const leave = end && (await places.take('', late));
    if (leave === undefined) end?.();
    return end && leave && { end, leave };
  }

  return {
    async run(accountId, query) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), maxWaitMs).unref();
      const turn = await take(accountId, late.signal);
      clearTimeout(timer);
      if (turn === undefined) throw requestsWait(maxWaitMs);
      let chars = 0;
      const count = (more: number) => void (chars += more);
      const begunMs = performance.now();
      try {
        const text = await query(count);
        count(text?.length ?? 0);
        return text;
      } finally {
        turn.leave();
        const restMs = Math.max(restAfterLongMs(performance.now() - begunMs), pauseAtPaceMs(chars, PACE));
        if (restMs > 0 && hasOthers()) setTimeout(turn.end, restMs).unref();
        else turn.end();
      }
    },
  };
}
