/**
 * The graphile-worker tasks. Each is a lane: one job drains many rows of one source or webhook, takes a bounded batch and
 * goes to the back of the queue. Jobs are added in the transaction that makes the rows, never afterwards.
 */
export const TASKS = {
  /** Waiting invocations of one source. */
  runSource: 'run-source',
  /** Due deliveries of one webhook. */
  deliverWebhook: 'deliver-webhook',
  /** One tick of one timer. */
  fireTimer: 'fire-timer',
} as const;

export interface RunSourcePayload {
  sourceId: string;
}

export interface DeliverWebhookPayload {
  webhookId: string;
}

export interface FireTimerPayload {
  sourceId: string;
  propName: string;
  generation: number;
  /** Epoch milliseconds the tick was due at. */
  dueAtMs: number;
}
