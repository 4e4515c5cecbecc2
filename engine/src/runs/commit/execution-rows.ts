import type { SendContent } from '../../outbox/index.ts';
import type { SendCall } from '@headwater/sandbox-runtime';

/**
 * A call of `$.send`, or an event that a step emitted, as it waits in the step's row for the end of
 * its execution.
 */
export interface StoredSend extends SendContent {
  kind: SendCall['kind'];
}

/** Props of a step, or some of them. */
export interface RecordedProps {
  /** JSON text of an object. */
  json: string;
  /**
   * Those of which it has only the beginning of their JSON, as a string, or nothing: JSON text of
   * an array.
   */
  cut: string;
}

/** A row of `execution_steps`. All but `namespace` and the times is JSON text or null. */
export interface StepRow {
  position: number;
  namespace: string;
  /** `continued`: it has failed, and the execution goes on behind it. */
  status: 'done' | 'failed' | 'continued' | 'rerun' | 'waiting';
  /** How often it was run, the last time included. */
  runs: number;
  /** The return value; undefined: none. */
  value: string | undefined;
  exports: string;
  logs: string;
  /** How many of these lines were shown while it ran. */
  liveLines: number;
  sends: readonly StoredSend[];
  /** The props that the component got; undefined if it has none. */
  props: RecordedProps | undefined;
  error: string | undefined;
  startedAtMs: number;
  endedAtMs: number;
}

/** Columns that all rows of one execution share. */
export interface ExecutionKey {
  id: string;
  accountId: string;
  workflowId: string;
  deploymentId: string;
}

/** The event of an execution and its origin. */
export interface ExecutionStart {
  kind: string;
  /** JSON text. */
  event: string;
  /** JSON text: `steps.trigger.context`. */
  context: string;
  causedBy: string | undefined;
  traceId: string;
  startedAtMs: number;
  /** It has a row already: it has waited, or replays another. */
  isStored?: true;
}

export interface ExecutionEnd {
  status: 'succeeded' | 'failed' | 'exited' | 'cancelled';
  /** JSON text of an ExecutionError. */
  error?: string;
  /** The argument of `$.flow.exit`. */
  reason?: string;
  endedAtMs: number;
}

export interface ExecutionWait {
  kind: 'delay' | 'suspend' | 'rerun' | 'retry';
  position: number;
  runs: number;
  failures: number;
  token: string;
  wakeAtMs: number;
  /** Bytes of the execution in the database, as counted for maxWaitingBytes. */
  bytes: number;
  /** The argument of `$.flow.rerun` for the next run, sealed. */
  context?: string;
  /** JSON text: what made the run that failed be run, for the one that is run in its stead. */
  callback?: string;
}

/** One commit of an execution. Without `end` and `wait`, its next step follows. */
export interface ExecutionCommit {
  key: ExecutionKey;
  /** How its invocation is held: nothing is written once that is otherwise. */
  lease: { leasedBy: string; claim: number };
  steps: readonly StepRow[];
  /** It had waited to be run again: the row that says so is deleted. */
  endsWait: boolean;
  start: ExecutionStart;
  end?: ExecutionEnd;
  wait?: ExecutionWait;
}

/**
 * Characters of all long texts of the commit. A text that is missing here would be committed
 * without a pace.
 */
export function charsOf({ steps, start, end, wait }: ExecutionCommit): number {
  let chars = (wait?.context?.length ?? 0) + (wait?.callback?.length ?? 0);
  if (end !== undefined || wait !== undefined) chars += start.event.length + start.context.length;
  chars += (end?.error?.length ?? 0) + (end?.reason?.length ?? 0);
  for (const { exports, value = '', logs, error = '', sends, props } of steps) {
    chars += exports.length + value.length + logs.length + error.length + (props?.json.length ?? 0);
    for (const { payload, sealed = '' } of sends) chars += payload.length + sealed.length;
  }
  return chars;
}
