/**
 * For so long this thread answers isolates, one question after another, before everything else of
 * the process has its turn.
 */
const MAX_ANSWERING_MS = 20;

let answeringSinceMs: number | undefined;

/**
 * True if no other work has had a turn for too long. Isolates that ask without end keep the request
 * queue full. The library empties it before the event loop continues with timers, limits and
 * messages of the engine.
 */
export function mustYieldLoop(nowMs: number): boolean {
  if (answeringSinceMs !== undefined) return nowMs - answeringSinceMs > MAX_ANSWERING_MS;
  answeringSinceMs = nowMs;
  setImmediate(() => (answeringSinceMs = undefined));
  return false;
}

/** Resolves when all else has had its turn. */
export function yieldLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
