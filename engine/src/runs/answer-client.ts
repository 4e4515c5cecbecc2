import type { HttpResponse } from '@headwater/shared';
import type { RunResponse } from '../contract/index.ts';
import type { HeldInvocation } from '../events/index.ts';
import { ABANDONED } from './abandon-run.ts';
import { TAKEN_OVER } from './kept-requests.ts';
import type { RunResult } from './run-invocation.ts';

/**
 * Answers the waiting client once: with the component's response, or the reason why there is none.
 */
export function respondOnce(invocation: HeldInvocation): {
  respond: (response: HttpResponse) => void;
  again?: () => void;
  end: (result: RunResult) => void;
} {
  let answered = false;
  const answer = (response: RunResponse) => {
    if (answered) return;
    answered = true;
    invocation.respond?.(response);
  };
  return {
    respond: (response) => answer({ ok: true, response }),
    end: (result) => answer(unanswered(invocation, result)),
  };
}

/**
 * The same for a run that is not stored: what it put out before `respond` is durable before its
 * client is answered. Otherwise a crash would lose events of which the client has heard.
 */
export function respondAfterOutput(invocation: HeldInvocation): {
  respond: (response: HttpResponse, hasOutput: boolean) => void;
  again: () => void;
  end: (result: RunResult) => void;
} {
  const { respond, end } = respondOnce(invocation);
  let held: HttpResponse | undefined;
  return {
    again() {
      held = undefined;
    },
    respond(response, hasOutput) {
      if (hasOutput) held ??= response;
      else respond(response);
    },
    end(result) {
      // Nothing of a run that was given up is stored.
      const isStored = result.ok || result.code !== ABANDONED.code;
      if (held !== undefined && isStored) respond(held);
      end(result);
    },
  };
}

function unanswered({ id }: HeldInvocation, result: RunResult): RunResponse {
  if (result.ok) return { ok: false, message: 'The source ran to its end without calling respond' };
  if (result.isTakenOver) return TAKEN_OVER;
  // The text may hold anything, and anybody can call an endpoint: it is for logs and $errors.
  return { ok: false, message: `The source failed before it responded; its logs say why, under ${id}` };
}
