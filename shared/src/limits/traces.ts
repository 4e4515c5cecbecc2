import { defineLimits } from './define-limits.ts';

/** Traces: how much of one is shown. */
// biome-ignore format: one limit a line
export const TRACE_LIMITS = defineLimits({
  maxTraceRows: { default: 500, unit: 'count', scope: 'answer', why: 'runs and executions, steps, events, deliveries and notes in a trace, each' },
  maxTraceLogBytes: { default: 1024 * 1024, unit: 'bytes', scope: 'answer', why: 'log lines in a trace' },
  maxTracesPerTenant: { default: 16, unit: 'count', scope: 'account', why: 'requests for traces on one node: one is put together, the others wait; over it 429' },
  maxTraceWebhooks: { default: 200, unit: 'count', scope: 'request', why: 'webhooks whose deliveries are looked for, those that listen first' },
  maxTraceSubscriptions: { default: 1_000, unit: 'count', scope: 'request', why: 'subscriptions that are looked at for who listens to other channels' },
  maxTraceListeners: { default: 2_500, unit: 'count', scope: 'answer', why: "listeners of a trace's events, those first that got one or were to get one" },
  traceContextKeptDays: { default: 30, unit: 'days', scope: 'account', why: 'how long the trace of a caller is remembered, unless the history of the account is deleted earlier; what goes on later goes on under our own' },
  maxTraceAttempts: { default: 10, unit: 'count', scope: 'answer', why: 'the newest attempts of one delivery or send in a trace' },
});
