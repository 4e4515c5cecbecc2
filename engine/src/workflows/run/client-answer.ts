import type { HttpResponse } from '@headwater/shared';
import type { RunResponse } from '../../contract/index.ts';
import type { HeldInvocation } from '../../events/index.ts';
import { kept } from '../../runs/index.ts';

/** The client that waits for the workflow's answer, if there is one. It is answered once. */
export interface ClientAnswer {
  /** `$.respond`: at once, or what there is to say when the execution ends or waits. */
  respond(response: HttpResponse, immediate: boolean): void;
  /** The execution has ended; `why` is said where nothing was given to answer with. */
  ended(why: string): void;
  /**
   * A step has ended it on purpose: without an answer so far the client is told that this is all.
   */
  exited(executionId: string): void;
  /**
   * Sends no response given so far, because the outcome is not decided here. The client is told
   * that the request is kept.
   */
  leaves(why: string): void;
  /**
   * The same where another holder has the execution, or where it is gone: it was cancelled, or its
   * workflow was deleted.
   */
  leavesTakenOver(isGone: () => Promise<boolean>): Promise<void>;
  /**
   * It waits, perhaps for days: without an answer so far the client is told that it was accepted.
   */
  waits(executionId: string): void;
}

const ENDED = 'The workflow ran to its end without calling $.respond';

export function createClientAnswer({ respond }: Pick<HeldInvocation, 'respond'>): ClientAnswer {
  let open = respond;
  let given: HttpResponse | undefined;
  const answer = (response: RunResponse) => {
    open?.(response);
    open = undefined;
  };
  const leaves = (why: string) => answer(kept(why));
  const send = (response: HttpResponse) => answer({ ok: true, response });
  return {
    respond(response, immediate) {
      if (immediate) send(response);
      else given = response;
    },
    ended(why) {
      if (given === undefined) answer({ ok: false, message: why });
      else send(given);
    },
    exited: (executionId) => send(given ?? statusAnswer(200, 'exited', executionId)),
    leaves,
    async leavesTakenOver(isGone) {
      if (open === undefined) return;
      if (await isGone())
        answer({ ok: false, message: 'The execution was cancelled, or its workflow deleted, before it responded' });
      else leaves('The execution goes on elsewhere; the request is kept');
    },
    waits: (executionId) => send(given ?? statusAnswer(202, 'waiting', executionId)),
  };
}

/**
 * The message to a client without an answer. Any client can call an endpoint, so the text of an
 * error stays in the execution's record.
 */
export function noAnswer(executionId: string, hasFailed: boolean): string {
  return hasFailed ? `The workflow failed before it responded; its owner finds why under ${executionId}` : ENDED;
}

/** Without the reason of an exit, which is written for the owner of the workflow. */
function statusAnswer(code: number, status: 'exited' | 'waiting', executionId: string): HttpResponse {
  const body = JSON.stringify({ status, execution_id: executionId });
  return { status: code, headers: { 'content-type': 'application/json' }, body: new TextEncoder().encode(body) };
}
