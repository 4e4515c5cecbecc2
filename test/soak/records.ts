/**
 * Observations of clients and receivers, and the final state of the database. The judgement uses
 * nothing else.
 */

/**
 * accepted: 200. refused: 503 or 429. unreachable: the port is closed. reset: the connection broke
 * before an answer. silent: no answer within 30 s. error: another 5xx. odd: any other status.
 */
export type Answer = 'accepted' | 'refused' | 'unreachable' | 'reset' | 'silent' | 'error' | 'odd';

export interface SentRequest {
  /** Its number, which what comes of it carries. */
  request: number;
  to: 'source' | 'workflow';
  tenant: number;
  /** For dedupe. Some are sent more than once. */
  id: string;
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
}

export interface StepCall {
  request: number;
  step: string;
  execution: string;
  /** When the run of the step began, on the clock of its sandbox. */
  begunAtMs: number;
  atMs: number;
}

export interface EventRow {
  emitterId: string;
  /** `webhook-id` of its deliveries. */
  messageId: string;
  invocationId: string | null;
  indexedAtMs: number;
  data: string;
}

export interface ExecutionRow {
  id: string;
  status: string;
  error: string | null;
  request: number | null;
}

export interface FailedRun {
  id: string;
  sourceId: string;
  code: string | null;
  message: string | null;
}

/** Anything that is left once the system had time to end it. */
export interface StuckRow {
  kind: 'invocation' | 'execution' | 'delivery' | 'send';
  id: string;
  owner: string;
  leasedBy: string | null;
  holderIsAlive: boolean;
  ageSeconds: number;
}

export interface Outcome {
  requests: readonly SentRequest[];
  messages: ReadonlyMap<string, WebhookMessage>;
  calls: readonly StepCall[];
  /** Events of each tenant, in the order of their emission. */
  sourceEvents: readonly (readonly EventRow[])[];
  ticks: readonly (readonly EventRow[])[];
  executions: readonly ExecutionRow[];
  failedRuns: readonly FailedRun[];
  stuck: readonly StuckRow[];
  /** Events before it may have had no webhook yet. */
  subscribedAtMs: number;
  /** In the order of the workflow. */
  steps: readonly string[];
}
