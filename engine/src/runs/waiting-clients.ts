import type { RunResponse } from '../contract/index.ts';
import { kept, NODE_STOPS } from './kept-requests.ts';

/** Clients on this node that wait for an answer of an execution that has not come to its turn. */
export interface WaitingClients {
  /** Resolves with the answer, or with the reason why there is none yet. */
  expect(executionId: string, accountId: string): Promise<RunResponse>;
  /** The function that answers the client, which then waits as long as the execution runs. */
  take(executionId: string): ((response: RunResponse) => void) | undefined;
  /** Waiting clients of one tenant. */
  count(accountId: string): number;
  /** Answers all of them, and each later one. Idempotent. */
  stop(): void;
}

export interface WaitingClientsOptions {
  /** How long a client waits for the turn. */
  maxWaitMs: number;
  /** No client waits any more: the execution may run on any node. */
  onLeft: (executionId: string) => void;
}

interface Waiting {
  accountId: string;
  timer: NodeJS.Timeout;
  resolve: (response: RunResponse) => void;
}

export function createWaitingClients({ maxWaitMs, onLeft }: WaitingClientsOptions): WaitingClients {
  const waiting = new Map<string, Waiting>();
  const counts = new Map<string, number>();
  let isStopped = false;

  function remove(executionId: string): Waiting | undefined {
    const found = waiting.get(executionId);
    if (found === undefined) return undefined;
    waiting.delete(executionId);
    clearTimeout(found.timer);
    const left = (counts.get(found.accountId) ?? 1) - 1;
    if (left === 0) counts.delete(found.accountId);
    else counts.set(found.accountId, left);
    return found;
  }

  function tell(executionId: string, response: RunResponse): void {
    remove(executionId)?.resolve(response);
  }

  return {
    expect(executionId, accountId) {
      if (isStopped) return Promise.resolve(NODE_STOPS);
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          const why = `Executions before this one have taken ${maxWaitMs / 1000} s; it is kept and runs in its turn`;
          tell(executionId, kept(why));
          onLeft(executionId);
        }, maxWaitMs);
        waiting.set(executionId, { accountId, timer, resolve });
        counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
      });
    },
    take: (executionId) => remove(executionId)?.resolve,
    count: (accountId) => counts.get(accountId) ?? 0,
    stop() {
      isStopped = true;
      // A map may be changed while it is gone through.
      for (const executionId of waiting.keys()) tell(executionId, NODE_STOPS);
    },
  };
}
