/** When lanes that found no room for their tenant come round again. */
export interface PostponedLanes {
  /** Epoch milliseconds; of one tenant's lanes each gets a later time than the one before. */
  nextTryMs(accountId: string): number;
}

/**
 * Lanes of one tenant come round at most so often. Without this, a thousand sources with a backlog
 * each would keep all workers and the database busy with finding no room.
 */
const GAP_MS = 20;
const MAX_TENANTS = 10_000;

/** `pauseMs`: how long a lane waits at least. */
export function createPostponedLanes(pauseMs: number, nowMs: () => number = Date.now): PostponedLanes {
  const lastTryMs = new Map<string, number>();
  return {
    nextTryMs(accountId) {
      const tryMs = Math.max(nowMs() + pauseMs, (lastTryMs.get(accountId) ?? 0) + GAP_MS);
      lastTryMs.delete(accountId);
      if (lastTryMs.size >= MAX_TENANTS) lastTryMs.clear();
      lastTryMs.set(accountId, tryMs);
      return tryMs;
    },
  };
}
