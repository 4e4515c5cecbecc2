import type { HttpAnswer } from './services.d.ts';

/** Argument of an action's `run`. */
export interface ActionRun {
  $: ActionContext;
  /**
   * Exports of earlier steps, and `steps.trigger.event`. A failed step that was skipped has
   * `$error`.
   */
  steps?: Record<string, any>;
}

export interface ActionContext {
  /**
   * Sets `steps.<step>.<name>`, even if the step fails later. `$summary` is shown if the step
   * succeeds. JSON only.
   */
  export(name: string, value: unknown): void;
  /**
   * Answers the request that started the workflow: at the workflow's end, or at once with
   * `immediate`. `status`: default 200.
   */
  respond(answer: Partial<HttpAnswer> & { immediate?: boolean }): Promise<void>;
  flow: Flow;
  send: Send;
  context: RunContext;
}

/** To be returned: `return $.flow.exit('nothing new')`. */
export interface FlowEnd {
  readonly reason?: string;
}

/** Requests to these go on with the workflow, or end it. */
export interface ResumeLinks {
  resume_url: string;
  cancel_url: string;
}

/**
 * Takes effect at the end of the step. The last call counts, but `exit` wins over all. Times are at
 * most a year.
 */
export interface Flow {
  /** Ends the whole workflow. */
  exit(reason?: string): FlowEnd;
  /** Waits for a request to `resume_url` at the end of the step. Default 24 hours. */
  suspend(ms?: number): ResumeLinks;
  /** Continues after `ms`, or after a request to `resume_url`. */
  delay(ms: number): ResumeLinks;
  /**
   * Runs this step again; `$.context.run.context` is then `context`. At most `maxRetries` times, 10
   * where not given.
   */
  rerun(ms?: number, context?: unknown, maxRetries?: number): ResumeLinks;
}

export interface SentRequest {
  method?: string;
  url: string;
  data?: unknown;
  headers?: Record<string, string>;
  params?: Record<string, unknown>;
  auth?: { username: string; password: string };
}

/** Sent after the workflow has ended. */
export interface Send {
  /** Resolves when `data` that is a stream has been read; the step waits for that by itself. */
  http(request: SentRequest): Promise<void>;
  /** To the account's own address. */
  email(email: { subject: string; text?: string; html?: string }): void;
  s3(object: { bucket: string; prefix?: string; payload: unknown }): void;
  /** An event of the workflow, on its default channel where none is named. */
  emit(event: unknown, channel?: string): void;
  sse(message: { channel: string; payload: unknown }): void;
}

export interface StepRuns {
  /** Counts from 1. */
  runs: number;
  /** Context that `$.flow.rerun` got. */
  context?: any;
  /** Set if a request to `resume_url` ran the step again: the request's body. */
  callback_request?: { body: any };
}

export interface RunContext {
  id: string;
  /** ISO 8601. */
  ts: string;
  workflow_id: string;
  workflow_name: string;
  deployment_id: string;
  /**
   * The trigger, or the source or workflow that emitted the event; null if the execution was
   * started by hand.
   */
  emitter_id: string | null;
  owner_id: string;
  /** The same over retries and resumes. */
  trace_id: string;
  replay: boolean;
  platform_version: string;
  /** Epoch milliseconds at which the workflow times out. */
  deadline: number;
  /** True where the step is being tested. */
  JIT: boolean;
  run: StepRuns;
  [extra: string]: unknown;
}
