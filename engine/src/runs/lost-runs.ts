import { HeadwaterError } from '@headwater/shared';
import type { RunResponse } from '../contract/index.ts';
import type { HeldInvocation } from '../events/index.ts';

/*
 * Runs of requests that are not stored (`durability: 'none'`). Nobody else can go on with one, so
 * the client that waits is told, and sends the request again.
 */

const RETRY_AFTER_SECONDS = 1;

export const LOST: RunResponse = {
  ok: false,
  message: 'This node could not end the run, and the request is not stored; send it again',
  request: 'lost',
};

export function runIsLost(message: string): HeadwaterError {
  return new HeadwaterError('UNAVAILABLE', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

/** Tells the clients of those that are not stored. Answers the others, which have rows. */
export function loseUnstored(invocations: readonly HeldInvocation[]): readonly HeldInvocation[] {
  if (!invocations.some(({ isUnstored }) => isUnstored)) return invocations;
  for (const { isUnstored, respond } of invocations) if (isUnstored) respond?.(LOST);
  return invocations.filter(({ isUnstored }) => !isUnstored);
}
