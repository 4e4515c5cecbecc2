import type { HttpResponse, LogLine } from '@headwater/shared';
import type { Principal } from './base.ts';
import type { ExecutionError, StepInputRecord } from './workflows.ts';

export interface WorkflowTest {
  /** The trigger event. Default: the event of `eventId`, else an empty object. */
  event?: unknown;
  /** An execution of the workflow, or an event of the account as `<emitter id>-<event id>`. */
  eventId?: string;
  /**
   * Exports of steps before the first that runs, by namespace, for `steps`. They override those of
   * the execution.
   */
  exports?: Record<string, Record<string, unknown>>;
  /** Only this step, after the steps that the execution has completed. */
  step?: string;
  /** The steps to this one, from the first. Default: all of them. */
  upTo?: string;
  /** Default: the newest version, deployed or not. */
  deploymentId?: string;
  /**
   * Steps as an update of that version would be given them, to be run instead of its own. Nothing
   * of them is saved.
   */
  steps?: StepInputRecord[];
}

/** `context`: JSON text. */
export type TestedFlow =
  | { kind: 'exit'; reason?: string }
  | { kind: 'delay' | 'suspend'; ms: number }
  | { kind: 'rerun'; ms: number; context?: string };

/**
 * `body`: its beginning, LIMITS.shownStepBytes at most; `isCut` where that is not all of it.
 * `isText`: all of it is UTF-8.
 */
export interface TestedResponse extends HttpResponse {
  isText: boolean;
  isCut: boolean;
  immediate: boolean;
}

/** `exports` and `value` are JSON text. No receiver gets anything that is shown here as sent. */
export interface TestedStep {
  namespace: string;
  /** `continued`: it has failed, and those behind it have run all the same. */
  status: 'done' | 'failed' | 'continued';
  /** As in ExecutionStepRecord. */
  props?: string;
  propsCut?: string[];
  value?: string;
  exports: string;
  logs: LogLine[];
  error?: ExecutionError;
  /** The step's request through `$.flow`. */
  flow?: TestedFlow;
  /** `payload`: JSON text of the argument. */
  sends: { kind: string; payload: string }[];
  responds: TestedResponse[];
  startedAt: Date;
  endedAt: Date;
}

export interface WorkflowTestRecord {
  /** Absent where the workflow is not saved. */
  deploymentId?: string;
  /** `rerun`: the last step wants to be run again. */
  status: 'succeeded' | 'failed' | 'exited' | 'rerun';
  /** JSON text of both. */
  event: string;
  context: string;
  steps: TestedStep[];
}

export interface WorkflowTests {
  /**
   * Runs steps of a workflow with `$.context.JIT` true. Without a workflow, `steps` run as those of
   * an unsaved one. They run as in an execution, with real requests and data stores. But nothing is
   * kept: no execution, event, send or answer to a client. A wait ends at once. Throws
   * INVALID_REQUEST, NOT_FOUND, and for given steps the errors of an update with them. Throws
   * RATE_LIMITED if too many tests of the account are under way.
   */
  run(who: Principal, workflowId: string | undefined, test: WorkflowTest): Promise<WorkflowTestRecord>;
}
