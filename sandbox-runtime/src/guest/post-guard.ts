import type { Bridge, PostValues } from './bridge.ts';
import { crossing } from './crossing.ts';
import { encodePost } from './isolate-codec.ts';
import { limitError } from './limit-error.ts';
import type { RunTracker } from './run-context.ts';

/**
 * Bounds what one uninterrupted stretch of guest code can send, however it does it (timers set and
 * cleared in a loop). The process takes such calls from a queue that has no bound of its own.
 */
export function guardPosts(post: PostValues, runs: RunTracker): { post: Bridge['post']; reset(): void } {
  let sent = 0;
  const pass = post as (...values: unknown[]) => void;
  const send: PostValues = (code, run, a, b, c) => {
    if (c === undefined) pass(code, run, crossing(a), crossing(b));
    else pass(code, run, crossing(a), crossing(b), crossing(c));
  };
  return {
    post(message) {
      sent += 1;
      const { kind } = message;
      // The end of a run is always sent, after any number of messages, and so is the flow of its
      // workflow.
      if (kind !== 'done' && kind !== 'failed' && kind !== 'step-flow') {
        const value = runs.limits.maxCallsPerTurn + runs.limits.maxEmitsPerRun;
        if (sent > value) throw limitError({ name: 'maxCallsPerTurn', value, used: sent });
      }
      encodePost(message, send);
    },
    reset() {
      sent = 0;
    },
  };
}
