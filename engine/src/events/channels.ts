export const DEFAULT_CHANNEL = '';
/** Events about runs that failed. */
export const ERRORS_CHANNEL = '$errors';
/** Log lines of runs; stored as events only if a listener is subscribed. */
export const LOGS_CHANNEL = '$logs';
/** Events about an account's webhooks. Its emitter is the account. */
export const WEBHOOKS_CHANNEL = '$webhooks';
/** Messages that workflows send with `$.send.sse`. */
export const SSE_CHANNEL = '$sse';

/** Errors, log lines and messages of runs: what a customer who only gets events is not to see. */
export const isOfRuns = (channel: string): boolean => channel.startsWith('$') && channel !== WEBHOOKS_CHANNEL;

/** Events there tell of runs and webhooks, or is on its way to a listener at once. */
export const BUILT_IN_CHANNELS: ReadonlySet<string> = new Set([
  ERRORS_CHANNEL,
  LOGS_CHANNEL,
  WEBHOOKS_CHANNEL,
  SSE_CHANNEL,
]);
