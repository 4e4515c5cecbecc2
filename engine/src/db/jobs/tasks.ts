/**
 * The graphile-worker tasks. Each is a lane: one job drains many rows of one source, webhook or
 * account, takes a bounded batch and goes to the back of the queue. Jobs are added in the
 * transaction that makes the rows, never afterwards.
 */
export const TASKS = {
  /** Waiting invocations of one source. */
  runSource: 'run-source',
  /** Due deliveries of one webhook. */
  deliverWebhook: 'deliver-webhook',
  /** Due deliveries of all webhooks of one account. */
  deliverAccount: 'deliver-account',
  /** One tick of one timer. */
  fireTimer: 'fire-timer',
  /** An execution whose wait is over. */
  wakeExecution: 'wake-execution',
  /** Due sends of one account. */
  send: 'send',
  /** The next events of one replay. */
  replayEvents: 'replay-events',
  /** The next rows of an account that is being deleted. */
  deleteAccount: 'delete-account',
  /**
   * The next of very many deliveries that a change of their webhook cancels, puts in order or makes
   * due.
   */
  webhookBacklog: 'webhook-backlog',
} as const;

export interface RunSourcePayload {
  sourceId: string;
}

export interface WakeExecutionPayload {
  executionId: string;
}

export interface DeliverWebhookPayload {
  webhookId: string;
  byHand?: true;
}

export interface DeliverAccountPayload {
  accountId: string;
}

export interface ReplayEventsPayload {
  replayId: string;
}

export interface DeleteAccountPayload {
  accountId: string;
  /** Nothing was left before. */
  isSecondLook?: boolean;
}

export type WebhookBacklogPayload = { accountId: string; webhookId: string } & (
  | { act: 'cancel'; reason: string; until: string }
  | { act: 'order'; after: { at: string; id: string } }
  | { act: 'release'; after: { key: string; ms: number; seq: number; id: string } }
);

export interface SendPayload {
  accountId: string;
}

export interface FireTimerPayload {
  sourceId: string;
  propName: string;
  generation: number;
  /** Epoch milliseconds the tick was due at. */
  dueAtMs: number;
}
