import type { EventCause, EventPosition, RunTimes } from '../../events/index.ts';
import type { WebhookListener } from './listeners.ts';

/* Rows that a commit writes for its events and for the work that they start. */

export interface EventRow {
  accountId: string;
  emitterId: string;
  position: EventPosition;
  invocationId: string | null;
  cause: EventCause | undefined;
  times: RunTimes | undefined;
  channel: string;
  emitId: string | null;
  summary: string | null;
  ts: number | null;
  data: string;
}

export interface DeliveryRow {
  id: string;
  event: EventRow;
  listener: WebhookListener;
  /** Set for a webhook that is in order: those of one key wait for each other. */
  orderKey?: string;
}

/** An event on its way to a source or workflow that listens. */
export interface InvocationRow {
  id: string;
  sourceId: string;
  event: EventRow;
  cause: EventCause;
  /** No node leases it now: its executions start by the rules of its settings. */
  inTurn?: true;
}

/**
 * Events of one run with so many listeners that the database makes the rows, from each event and
 * each listener once. This node holds none of them: lanes claim them.
 */
export interface FanOut {
  /** In their order. */
  events: { event: EventRow; cause: EventCause; heardKey: string }[];
  /** By `heardKey`: the channel, and what filters made of the event. */
  webhookIds: Map<string, string[]>;
  /** Those of them that are stopped. */
  heldIds: ReadonlySet<string>;
  sourceIds: Map<string, string[]>;
}
