import { POST } from '../protocol/isolate-calls.ts';
import type { Bridge } from './bridge.ts';
import type { RunTracker } from './run-context.ts';

/** Calls in one entry into the isolate, besides events: far above what a run makes, and taken by the process in 50 ms. */
const MAX_POSTS_PER_ENTRY = 10_000;

/**
 * Bounds what one uninterrupted stretch of guest code can send, however it does it (timers set and cleared in a loop). The
 * process takes such calls from a queue that has no bound of its own.
 */
export function guardPosts(post: Bridge['post'], runs: RunTracker): { post: Bridge['post']; reset(): void } {
  let left = 0;
  return {
    post(kind, run, a, b, c) {
      left -= 1;
      // The end of a run is always told, whatever the run did before, and with it how its workflow goes on.
      if (left < 0 && kind !== POST.done && kind !== POST.failed && kind !== POST.stepFlow)
        throw new RangeError('Too many calls to the platform without a pause');
      if (c === undefined) post(kind, run, a, b);
      else post(kind, run, a, b, c);
    },
    reset() {
      left = MAX_POSTS_PER_ENTRY + (runs.knownLimits?.maxEmitsPerRun ?? 0);
    },
  };
}
