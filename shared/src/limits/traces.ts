/** Traces: how much of one is shown. */
export const TRACE_LIMITS = {
  /**
   * One trace as it is shown: its runs and executions, their steps, events, deliveries and what was
   * missed, each; log lines.
   */
  maxTraceRows: 500,
  maxTraceLogBytes: 1024 * 1024,
  /** Requests for traces of one account on one node: one is put together, the others wait. */
  maxTracesPerTenant: 16,
  /** Webhooks and subscriptions of the account that are looked at for it. */
  maxTraceWebhooks: 200,
  maxTraceSubscriptions: 1_000,
  /**
   * Listeners of all its events together. Each of the events may have each of the subscriptions;
   * what got one or runs for one is less than this in any case. Attempts of one delivery or send,
   * the newest.
   */
  maxTraceListeners: 2_500,
  maxTraceAttempts: 10,
} as const;
