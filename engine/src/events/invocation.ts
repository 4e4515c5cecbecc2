import { ID_PREFIXES, newId } from '@headwater/shared';
import type { RunResponse } from '../contract/index.ts';
import type { EventCause } from './cause.ts';

export type InvocationKind = 'http' | 'timer' | 'manual' | 'event';

/** `inv_…` for a source. `exec_…` for a workflow, because the invocation becomes that execution. */
export function newInvocationId(targetId: string, nowMs?: number): string {
  return newId(isWorkflow(targetId) ? 'execution' : 'invocation', nowMs);
}

export function isWorkflow(id: string): boolean {
  return id.startsWith(ID_PREFIXES.workflow);
}

/**
 * An invocation that this node holds: only a commit that names its lease and its claim can end it.
 */
export interface HeldInvocation {
  id: string;
  accountId: string;
  sourceId: string;
  kind: InvocationKind;
  /**
   * The prop or trigger of the endpoint or timer that started it. Absent for other kinds, and if it
   * is not known.
   */
  propName?: string | undefined;
  /** JSON text. */
  event: string;
  /** Origin of the event; only for the kind `event`. */
  cause?: EventCause | undefined;
  /** Sources only: times that the sandbox process ended while this ran alone in it, on any node. */
  crashes: number;
  /**
   * Workflows only: at least 1 once a node has taken it, so that it goes before executions that
   * have not begun. No other decision uses it.
   */
  attempts: number;
  leasedBy: string;
  /**
   * Number of the claim of the row, from 1: a fencing token. Each later claim is greater. So a
   * holder writes nothing once the row was given back and taken again, even by the same node.
   * Greater than 1: an execution may have completed steps.
   */
  claim: number;
  /** It was started by the rules of its workflow: its end lets the next one start. */
  inTurn?: true;
  /** It has no row: it ends with this node, and its client is told. */
  isUnstored?: true;
  /** Present if a client waits for the component's own answer. Called at most once. */
  respond?: (response: RunResponse) => void;
}

/** Fields that a commit needs to end the invocation and to continue its chain of events. */
export function leaseOf({ id, leasedBy, claim, cause, kind, isUnstored }: HeldInvocation) {
  return { id, leasedBy, claim, cause, kind, ...(isUnstored === undefined ? {} : { isUnstored }) };
}

/** Origin of the event, for `$errors`. */
export function originOf(invocation: HeldInvocation | undefined): { caused_by?: string; trace_id?: string } {
  const cause = invocation?.cause;
  if (cause === undefined) return {};
  return { caused_by: cause.event, ...(cause.traceId === undefined ? {} : { trace_id: cause.traceId }) };
}
