import type { HttpAnswer } from './services.d.ts';

/** What `run` of an action is called with. */
export interface ActionRun {
  $: ActionContext;
  /** What the steps before have exported, and `steps.trigger.event`. */
  steps?: Record<string, any>;
}

export interface ActionContext {
  /** Makes `steps.<step>.<name>`; `$summary` is shown where the step has succeeded. */
  export(name: string, value: unknown): void;
  /** Answers the request that started the workflow; with `immediate` before the workflow goes on. */
  respond(answer: HttpAnswer & { immediate?: boolean }): Promise<void>;
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

export interface Flow {
  /** Ends the whole workflow. */
  exit(reason?: string): FlowEnd;
  /** Waits for a request to `resume_url` at the end of the step. Default 24 hours. */
  suspend(ms?: number): ResumeLinks;
  /** Goes on after so many milliseconds. */
  delay(ms: number): ResumeLinks;
  /** Runs this step again; `$.context.run.context` is then `context`. At most `maxRetries` times, 10 where not given. */
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
  http(request: SentRequest): void;
  /** To the account's own address. */
  email(email: { subject: string; text?: string; html?: string }): void;
  s3(object: { bucket: string; prefix: string; payload: unknown }): void;
  emit(event: unknown): void;
  sse(message: { channel: string; payload: unknown }): void;
}

export interface RunContext {
  id: string;
  /** ISO 8601. */
  ts: string;
  workflow_id: string;
  workflow_name: string;
  deployment_id: string;
  emitter_id?: string;
  owner_id: string;
  /** The same over retries and resumes. */
  trace_id: string;
  replay: boolean;
  platform_version: string;
  /** Epoch milliseconds at which the workflow times out. */
  deadline: number;
  /** True where the step is being tested. */
  JIT: boolean;
  run: { runs: number; context?: any };
  resume?: any;
  [extra: string]: unknown;
}
