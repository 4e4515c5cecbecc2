import type { RunResponse } from '../contract.ts';

export type InvocationKind = 'http' | 'timer' | 'manual';

/** An invocation that this node holds: its row is leased by `leasedBy`, and only this node's commit can end it. */
export interface HeldInvocation {
  id: string;
  accountId: string;
  sourceId: string;
  kind: InvocationKind;
  /** JSON text. */
  event: string;
  /** Times it was taken by a node, this one included. */
  attempts: number;
  leasedBy: string;
  /** Where a client waits for the component's own answer. Called at most once. */
  respond?: (response: RunResponse) => void;
}
