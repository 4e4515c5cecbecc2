export { createTraceContexts, type TraceContexts } from './trace-contexts.ts';
export { spanIdOf, type SpanKey, spanOfAttempt, spanOfStep, type TraceContext } from './trace-ids.ts';
