import type { Span } from '@headwater/engine';

/*
 * Requests as https://github.com/open-telemetry/opentelemetry-proto says, in its JSON form: ids are
 * hex, numbers of 64 bits are texts, enums are numbers.
 */

export interface Attribute {
  key: string;
  value: { stringValue: string } | { intValue: string } | { doubleValue: number } | { boolValue: boolean };
}

const KINDS: Record<Span['kind'], number> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 };
const ERROR = 2;
const SCOPE = { name: 'headwater' };

export function attributesOf(values: Readonly<Record<string, string | number | boolean>>): Attribute[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: string | number | boolean): Attribute['value'] {
  if (typeof value === 'string') return { stringValue: value.toWellFormed() };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** The body of `POST /v1/traces`. */
export function spansRequest(resource: readonly Attribute[], spans: readonly Span[]): object {
  return {
    resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOf) }] }],
  };
}

function spanOf({ traceId, spanId, parentSpanId, traceState, name, kind, attributes, error, ...times }: Span) {
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    ...(traceState === undefined ? {} : { traceState }),
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(times.startedAtMs),
    endTimeUnixNano: nanoseconds(Math.max(times.startedAtMs, times.endedAtMs)),
    attributes: attributesOf(attributes),
    ...(error === undefined ? {} : { status: { code: ERROR, message: error } }),
  };
}

/** A number has no room for the nanoseconds of an epoch. */
export function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
