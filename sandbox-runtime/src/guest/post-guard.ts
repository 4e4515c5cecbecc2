import { POST } from '../protocol/isolate-calls.ts';
import type { Bridge } from './bridge.ts';

/** Calls in one entry into the isolate: far above what a run within its limits makes, far below what fills memory outside. */
const MAX_POSTS_PER_ENTRY = 50_000;

/**
 * Bounds what one uninterrupted stretch of guest code can send, however it does it (timers set and cleared in a loop). The
 * process takes such calls from a queue that has no bound of its own.
 */
export function guardPosts(post: Bridge['post']): { post: Bridge['post']; reset(): void } {
  let left = MAX_POSTS_PER_ENTRY;
  return {
    post(kind, run, a, b, c) {
      left -= 1;
      // The end of a run is always told, whatever the run did before.
      if (left < 0 && kind !== POST.done && kind !== POST.failed)
        throw new RangeError('Too many calls to the platform without a pause');
      if (c === undefined) post(kind, run, a, b);
      else post(kind, run, a, b, c);
    },
    reset() {
      left = MAX_POSTS_PER_ENTRY;
    },
  };
}
