import { createLimiter, HeadwaterError, LIMITS } from '@headwater/shared';

type CountLimit =
  | 'maxComponentFetchesPerTenant'
  | 'maxWaitingImports'
  | 'maxTracesPerTenant'
  | 'maxDeletionsPerTenant'
  | 'maxWebhookTestsPerTenant'
  | 'maxSourceChangesPerTenant';

export interface BoundedTurns {
  /**
   * Throws RATE_LIMITED at once where too many of the account are under way or wait. `restMs`:
   * after it, before the next.
   */
  run<T>(accountId: string, work: () => Promise<T>, restMs?: (tookMs: number) => number): Promise<T>;
  /** For work that must not be refused halfway, and holds no memory while it waits. */
  runLate<T>(accountId: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Limits concurrent work of an account whose inputs stay in memory. `atOnce` run (default: one),
 * the others wait.
 */
export function createBoundedTurns(name: CountLimit, what: string, atOnce = 1): BoundedTurns {
  const turns = createLimiter(atOnce);
  const open = new Map<string, number>();
  return {
    async runLate(accountId, work) {
      const end = await turns.take(accountId, NEVER);
      try {
        return await work();
      } finally {
        end?.();
      }
    },
    async run(accountId, work, restMs = () => 0) {
      const others = open.get(accountId) ?? 0;
      if (others >= LIMITS[name]) throw tooMany(name, what);
      open.set(accountId, others + 1);
      const end = await turns.take(accountId, NEVER);
      const startedAtMs = performance.now();
      try {
        return await work();
      } finally {
        leave(accountId);
        const rest = restMs(performance.now() - startedAtMs);
        if (rest === 0) end?.();
        else setTimeout(() => end?.(), rest);
      }
    },
  };

  function leave(accountId: string): void {
    const left = (open.get(accountId) ?? 1) - 1;
    if (left === 0) open.delete(accountId);
    else open.set(accountId, left);
  }
}

const NEVER = new AbortController().signal;

export function tooMany(name: CountLimit, what: string): HeadwaterError {
  const value = LIMITS[name];
  const message = `${value} ${what} of this account are under way; try again when one has ended`;
  const limit = { name, value, used: value + 1 };
  return new HeadwaterError('RATE_LIMITED', message, { retryAfterSeconds: 1, limit });
}
