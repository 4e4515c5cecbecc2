/**
 * Observations of clients and receivers, and the final state of the database. The judgement uses
 * nothing else.
 */

/**
 * accepted: 200; of `asked` 201, its own answer, or 202, which says that its run comes later.
 * refused: 503 or 429. unreachable: the port is closed. reset: the connection broke before an
 * answer. silent: no answer within 30 s. error: another 5xx. odd: any other status.
 */
export type Answer = 'accepted' | 'refused' | 'unreachable' | 'reset' | 'silent' | 'error' | 'odd';

/**
 * source: emits with `dedupe: unique`. notes: emits without dedupe. greatest, last: emit with that
 * dedupe. asked: answers itself (`customResponse`). workflow: three steps. waits: a workflow that
 * waits between its steps.
 */
export type Target = 'source' | 'notes' | 'greatest' | 'last' | 'asked' | 'workflow' | 'waits';

export interface SentRequest {
  /** Its number, which what comes of it carries. */
  request: number;
  to: Target;
  tenant: number;
  /** For dedupe. Some are sent more than once. */
  id: string;
  /** Which numbers it brings to `greatest` or `last`. Some are sent more than once. */
  turn: number;
  node: string;
  sentAtMs: number;
  tookMs: number;
  answer: Answer;
  /**
   * A fault had hit the node, or its start was not over, at some time between request and answer.
   */
  wasDisturbed: boolean;
  /** When it ended, the node was in its graceful stop. */
  wasStopping: boolean;
  /** Only for a refusal. */
  hasRetryAfter: boolean;
  /** Status and body of an answer, else why there was none. */
  detail: string;
}

export interface WebhookMessage {
  /** `webhook-id`. */
  id: string;
  /** The different ones. */
  bodies: string[];
  /** Answered with 200. */
  taken: number;
  failed: number;
  /** Places of its first attempt and of the first with a 200 among all attempts. 0: none. */
  firstTry: number;
  firstTaken: number;
}

/** By `webhook-id`. */
export type Messages = ReadonlyMap<string, WebhookMessage>;

export interface StepCall {
  request: number;
  step: string;
  execution: string;
  /** How often the step has been run, from 1, when it asks for that itself. */
  run: number;
  /** When the run of the step began, on the clock of its sandbox. */
  begunAtMs: number;
  atMs: number;
}

export interface EventRow {
  /** `webhook-id` of its deliveries. */
  messageId: string;
  invocationId: string | null;
  indexedAtMs: number;
  channel: string;
  data: string;
}

export interface ExecutionRow {
  id: string;
  status: string;
  error: string | null;
  request: number | null;
  endedAtMs: number | null;
}

export interface ReplayRow {
  id: string;
  /** Name of its webhook at the receiver. */
  hook: string;
  sinceMs: number;
  untilMs: number;
  status: string;
  count: number;
  sent: number;
}

export interface FailedRun {
  id: string;
  sourceId: string;
  code: string | null;
  message: string | null;
}

/** Anything that is left once the system had time to end it. */
export interface StuckRow {
  kind: 'invocation' | 'execution' | 'delivery' | 'send' | 'replay';
  id: string;
  owner: string;
  leasedBy: string | null;
  holderIsAlive: boolean;
  ageSeconds: number;
}

/** Records of one account at the end. Events are in the order of their emission. */
export interface TenantOutcome {
  sourceEvents: readonly EventRow[];
  ticks: readonly EventRow[];
  notes: readonly EventRow[];
  numbers: Readonly<Record<'greatest' | 'last', readonly EventRow[]>>;
  asked: readonly EventRow[];
  /** By the name of the webhook. */
  hooks: ReadonlyMap<string, Messages>;
  replays: readonly ReplayRow[];
  /** Events before it may have had no webhook yet. */
  subscribedAtMs: number;
}

export interface Outcome {
  requests: readonly SentRequest[];
  /** Events of each request to `source`. */
  emits: number;
  tenants: readonly TenantOutcome[];
  calls: readonly StepCall[];
  executions: readonly ExecutionRow[];
  failedRuns: readonly FailedRun[];
  stuck: readonly StuckRow[];
}
