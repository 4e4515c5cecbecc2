import { hash } from 'node:crypto';
import type { CallerTrace } from '../contract/index.ts';

/** The place of one of our traces among those of its callers. */
export interface TraceContext {
  /** 32 hex digits. */
  traceId: string;
  /** The caller's span. Absent: the trace begins here. */
  parentSpanId?: string;
  /** Whether the caller records it. Undefined without a caller. */
  parentSampled?: boolean;
  traceState?: string;
}

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** The same, where a caller leads there. */
type CallerContext = TraceContext & Required<Pick<TraceContext, 'parentSpanId' | 'parentSampled'>>;

/** Kinds of spans. With the id of the thing the kind makes the id of the span. */
type SpanOf = 'request' | 'invocation' | 'run' | 'step' | 'event' | 'attempt';

/** A span by what it is of: its id is made only where it is needed. */
export type SpanKey = readonly [of: SpanOf, ...id: (string | number)[]];

/**
 * The trace of an invocation that no caller's trace leads to. It follows from the id, so that every
 * node finds it without a look anywhere; ids cannot be guessed.
 */
export function traceIdOf(rootId: string): string {
  return digest(`trace ${rootId}`, TRACE_DIGITS);
}

/** The id of a span: any node can name the parent of its own span without having seen it. */
export function spanIdOf(...key: SpanKey): string {
  return digest(key.join(' '), SPAN_DIGITS);
}

/** `runs`: which run of the step, from 1. */
export const spanOfStep = (executionId: string, namespace: string, runs: number): SpanKey => [
  'step',
  executionId,
  namespace,
  runs,
];

/** `number`: which attempt, from 1. */
export const spanOfAttempt = (deliveryId: string, number: number): SpanKey => ['attempt', deliveryId, number];

/** Cut off a SHA-256, which is never all zeros, as the ids of W3C must not be. */
function digest(text: string, digits: number): string {
  return hash('sha256', text, 'hex').slice(0, digits);
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MAX_TRACEPARENT_CHARS = 256;
/** As W3C Trace Context asks of a system that passes it on. */
const MAX_TRACESTATE_CHARS = 512;
const TRACESTATE = /^[\x20-\x7e]+$/;
const SAMPLED = 1;

/**
 * The caller's trace, by https://www.w3.org/TR/trace-context. Undefined where the header is none:
 * it is ignored then, with its state.
 */
export function readCallerTrace({ traceparent, tracestate }: CallerTrace): CallerContext | undefined {
  if (traceparent.length > MAX_TRACEPARENT_CHARS) return undefined;
  const [, version = '', traceId = '', parentSpanId = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? [];
  // Version 00 has four parts; later ones may have more.
  if (traceId === '' || version === 'ff' || (version === '00' && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentSpanId)) return undefined;
  const isState = tracestate !== undefined && tracestate.length <= MAX_TRACESTATE_CHARS && TRACESTATE.test(tracestate);
  return {
    traceId,
    parentSpanId,
    parentSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED,
    ...(isState ? { traceState: tracestate } : {}),
  };
}

/** As this node passes it on: of all versions that one may be sent, 00 is the one. */
export function writeTraceparent(traceId: string, spanId: string, isSampled: boolean): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}
