import type { CallerTrace } from '@headwater/engine';

/**
 * The trace of the caller, for accounts that want it. `header`: the value of one, where it came
 * once.
 */
export function callerTraceOf(header: (name: string) => string | undefined): CallerTrace | undefined {
  const [traceparent, tracestate] = [header('traceparent'), header('tracestate')];
  if (traceparent === undefined) return undefined;
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
}
