import type { DedupeStrategy, LogLine } from '@headwater/shared';
import type { AttemptRecord, Principal } from './base.ts';
import type { DeliveryStatus } from './deliveries.ts';
import type { ExecutionError, ExecutionRecord, ExecutionStatus } from './workflows.ts';

/** Everything that followed from one request, tick, run by hand or hook. */
export interface TraceRecord {
  id: string;
  /** There is more than is shown: of runs, events or log lines. */
  isCut: boolean;
  /** Roots of the trace; more than one if a run between them is not shown or no longer kept. */
  runs: TraceRun[];
}

export interface TraceRun {
  /** `run`: of a source. `execution`: of a workflow. */
  type: 'run' | 'execution';
  id: string;
  emitterId: string;
  emitterName?: string;
  /** `http`, `timer`, `manual`, `event`; absent where nothing says so any more. */
  kind?: string;
  causedBy?: string;
  status: 'ok' | 'error' | ExecutionStatus;
  /** The current state and its reason, as a sentence. */
  explanation: string;
  /** The node that holds a queued or running one. Absent: no node has begun it. */
  nodeId?: string;
  /** It is queued because its source or workflow is stopped. */
  isStopped?: true;
  /** Only for a waiting execution. */
  wait?: ExecutionRecord['wait'];
  /** The argument of `$.flow.exit`. */
  reason?: string;
  /** When it was accepted; from here to its start it waited. */
  invokedAtMs?: number;
  startedAtMs?: number;
  endedAtMs?: number;
  error?: ExecutionError;
  logs: LogLine[];
  steps: TraceStep[];
  /** In the order in which they were stored. */
  events: TraceEvent[];
  sends: TraceSend[];
  /** Emitted events that were dropped because their ids were known, with the first of those ids. */
  deduped?: { count: number; emitIds: string[]; strategy?: DedupeStrategy };
}

export interface TraceStep {
  namespace: string;
  status: string;
  runs: number;
  startedAtMs: number;
  endedAtMs: number;
  error?: ExecutionError;
  /** Its export `$summary`. */
  summary?: string;
  /** Input of the step, JSON text of an object: see ExecutionStepRecord. */
  props?: string;
  logs: LogLine[];
}

export interface TraceEvent {
  /** `1606511826306-0` */
  id: string;
  emitterId: string;
  channel: string;
  emitId?: string;
  summary?: string;
  indexedAtMs: number;
  bytes: number;
  listeners: TraceListener[];
}

/**
 * `no_such_channel`: it was subscribed, but not to this channel. `filtered`: the filter of its
 * subscription did not match; said of filters that have not changed since. `hold_full`: it was
 * stopped, and as much was held as the account may have. A listener that was subscribed later is
 * not among them.
 */
export type MissReason =
  | 'paused'
  | 'too_many_hops'
  | 'backlog_full'
  | 'hold_full'
  | 'no_such_channel'
  | 'filtered'
  | 'filter_too_costly';

export type TraceListener = { listenerId: string; listenerName?: string } & (
  | { outcome: 'delivery'; delivery: TraceDelivery }
  | { outcome: 'run'; run: TraceRun }
  /**
   * `clause`: JSON text of the first condition that did not match, where the event's data could be
   * read again.
   */
  | { outcome: 'missed'; reason: MissReason; clause?: string }
);

interface TraceDelivery {
  id: string;
  status: DeliveryStatus;
  attempts: AttemptRecord[];
  nextAttemptAtMs?: number;
}

interface TraceSend {
  id: string;
  kind: string;
  status: string;
  attempts: AttemptRecord[];
}

export interface Traces {
  /**
   * By the id of a trace, or of an execution, run or event (its `emit_id`) in it. NOT_FOUND as well
   * where nothing of it is kept.
   */
  get(who: Principal, id: string): Promise<TraceRecord>;
}
