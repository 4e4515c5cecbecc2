import type { RunResponse } from '../contract/index.ts';

/**
 * The answer to a client that waits for a stored request which this node does not run to its end.
 * The client must not send the request again: its run comes later, or on another node.
 */
export function kept(message: string): RunResponse {
  return { ok: false, message, request: 'kept' };
}

export const NODE_STOPS = kept('This node stops; the request is kept and runs later');

export const TAKEN_OVER = kept('Another node has taken this over; the request is kept');
