/** One span of a trace, as OpenTelemetry means it. Ids are lower-case hex. */
export interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  /** State of the caller's trace, as it came. */
  traceState?: string;
  /** One of a few: never an id, a URL or a name that a tenant chose. */
  name: string;
  kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  startedAtMs: number;
  endedAtMs: number;
  attributes: Readonly<Record<string, string | number | boolean>>;
  /** The failure, in a word or two. Absent: there was none. */
  error?: string;
}

/** Takes spans that have ended. No method waits or throws. */
export interface SpanSink {
  /** `parentSampled`: what the caller's `traceparent` says. Undefined: there is no caller. */
  samples(traceId: string, parentSampled: boolean | undefined): boolean;
  add(span: Span): void;
  /** So many would have come, and do not. */
  drop(count: number): void;
}

/** `traceparent` and `tracestate` as a client sent them: nothing of them is checked. */
export interface CallerTrace {
  traceparent: string;
  tracestate?: string;
}

/** A request that has begun a run, an execution or a change, once it was answered. */
export interface AnsweredRequest {
  accountId: string;
  /** The run or execution that it has begun: `inv_…`, `exec_…`. */
  runId: string;
  method: string;
  /** The route, not the path: it holds keys. */
  route: string;
  status: number;
  startedAtMs: number;
}

/** Spans of what happens outside of the engine. */
export interface Tracing {
  requestAnswered(request: AnsweredRequest): void;
}

export interface TracedExecution {
  key: { id: string; accountId: string; workflowId: string };
  invocation: { kind: string; cause?: { event: string } | undefined };
  /** `traceId`: the invocation that its trace began with. */
  start: { startedAtMs: number; traceId: string };
}

export interface TracedStep {
  namespace: string;
  /** Which run of the step, from 1. */
  runs: number;
  status: string;
  error?: string | undefined;
  startedAtMs: number;
  endedAtMs: number;
}

/** Spans of an execution while this node holds it. */
export interface ExecutionSpans {
  stepEnded(execution: TracedExecution, step: TracedStep): void;
  executionEnded(execution: TracedExecution, end: { status: string; endedAtMs: number }): void;
}
