import { pauseAtPaceMs, restAfterLongMs } from '@headwater/engine';
import { createLimiter, LIMITS } from '@headwater/shared';
import { requestsWait } from './requests-wait.ts';

/**
 * Limits an account's concurrent database queries. A node's queries share a few connections, first
 * come, first served. A hundred lists of one account would delay every other request, endpoints
 * included. Measured: 4 s where a list takes 0.3 s, and a tenth of that with turns.
 *
 * Results also cost the node's one thread: some tens of milliseconds for megabytes. So while other
 * accounts are active, an account's next turn starts later after many characters read, answered or
 * not, and after a long query.
 */
export interface QueryTurns {
  /**
   * Runs the query in its turn. It returns text, bytes or null, and counts characters that it read
   * and does not return. Throws RATE_LIMITED if its turn has not come within
   * LIMITS.maxRequestWaitMs.
   */
  run<T extends { length: number } | null>(accountId: string, query: (count: CountChars) => Promise<T>): Promise<T>;
}

/** Is told of characters that were read and are not answered. */
export type CountChars = (chars: number) => void;

export const uncounted: CountChars = () => undefined;

export interface QueryTurnsOptions {
  /** Whether requests of several accounts arrive. */
  hasOthers: () => boolean;
  /** Default: LIMITS.maxRequestWaitMs. */
  maxWaitMs?: number;
}

const PACE = { smallChars: LIMITS.smallBatchChars, charsPerSecond: LIMITS.batchCharsPerSecond };

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
