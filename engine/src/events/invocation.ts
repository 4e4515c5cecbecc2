import { ID_PREFIXES, newId } from '@headwater/shared';
import type { RunResponse } from '../contract/engine.ts';
import type { EventCause } from './cause.ts';

export type InvocationKind = 'http' | 'timer' | 'manual' | 'event';

/**
 * Of a source it is an invocation, `inv_…`; of a workflow the execution that it becomes, `exec_…`.
 */
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
   * The prop or trigger by which it came: an endpoint's or a timer's. Absent for all else, and
   * where it is not known.
   */
  propName?: string | undefined;
  /** JSON text. */
  event: string;
  /** Where the event comes from; of the kind `event`. */
  cause?: EventCause | undefined;
  /** Of a source: times that its sandbox process ended while it was alone in it, on any node. */
  crashes: number;
  /**
   * Of a workflow: at least 1 once a node has taken it, so that it goes before those that have not
   * begun. Judges nothing.
   */
  attempts: number;
  leasedBy: string;
  /**
   * Which claim of the row this is, counted from 1: a fencing token. A later one is greater, so
   * that a holder whose row was given back and taken again, be it by the same node, writes nothing.
   * Greater than 1: an execution may have completed steps.
   */
  claim: number;
  /** It was started by the rules of its workflow: its end lets the next one start. */
  inTurn?: true;
  /** Where a client waits for the component's own answer. Called at most once. */
  respond?: (response: RunResponse) => void;
}

/** What a commit needs to end the invocation, and to lead on what it emitted. */
export function leaseOf({ id, leasedBy, claim, cause, kind }: HeldInvocation) {
  return { id, leasedBy, claim, cause, kind };
}

/** Where its event comes from, as `$errors` tells it. */
export function originOf(invocation: HeldInvocation | undefined): { caused_by?: string; trace_id?: string } {
  const cause = invocation?.cause;
  if (cause === undefined) return {};
  return { caused_by: cause.event, ...(cause.traceId === undefined ? {} : { trace_id: cause.traceId }) };
}
