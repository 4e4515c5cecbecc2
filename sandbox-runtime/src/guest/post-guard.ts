import { POST } from '../bridge/isolate-codes.ts';
import type { Bridge } from './bridge.ts';
import { crossing } from './crossing.ts';
import { limitError } from './limit-error.ts';
import type { RunTracker } from './run-context.ts';

/**
 * Bounds what one uninterrupted stretch of guest code can send, however it does it (timers set and
 * cleared in a loop). The process takes such calls from a queue that has no bound of its own.
 */
export function guardPosts(post: Bridge['post'], runs: RunTracker): { post: Bridge['post']; reset(): void } {
  let sent = 0;
  const pass: (...values: unknown[]) => void = post as (...values: unknown[]) => void;
  return {
    post(kind, run, a, b, c) {
      sent += 1;
      // The end of a run is always told, whatever the run did before, and with it how its workflow
      // goes on.
      if (kind !== POST.done && kind !== POST.failed && kind !== POST.stepFlow) {
        const value = runs.limits.maxCallsPerTurn + runs.limits.maxEmitsPerRun;
        if (sent > value) throw limitError({ name: 'maxCallsPerTurn', value, used: sent });
      }
      if (c === undefined) pass(kind, run, crossing(a), crossing(b));
      else pass(kind, run, crossing(a), crossing(b), crossing(c));
    },
    reset() {
      sent = 0;
    },
  };
}
