import { gunzipSync } from 'node:zlib';
import { eventually } from './eventually.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import type { Json } from './json.ts';

/** A span as it was received. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, string | number | boolean>;
  status?: { code: number; message: string };
  resource: Record<string, string | number | boolean>;
}

/** A collector on loopback that decodes OTLP over HTTP. */
export interface OtlpReceiver extends Receiver {
  spans(): ReceivedSpan[];
  /** Resolves once it has a span for each of these conditions. */
  untilSpans(count: number, which: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan[]>;
  /** The newest points of a metric by name. */
  points(name: string): Json[] | undefined;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const receiver = await startReceiver();
  const bodies = (path: string): Json[] =>
    receiver.requests.filter(({ url }) => url === path).map(({ bytes }) => JSON.parse(gunzipSync(bytes).toString()));
  const spans = () =>
    bodies('/v1/traces').flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
        scopeSpans.flatMap((scope: Json) =>
          scope.spans.map((span: Json) => ({
            ...span,
            attributes: valuesOf(span.attributes),
            resource: valuesOf(resource.attributes),
          })),
        ),
      ),
    );
  const pointsIn = (name: string) => (body: Json) => {
    const metrics: Json[] = body.resourceMetrics[0].scopeMetrics[0].metrics;
    const found = metrics.find((metric) => metric.name === name);
    return (found?.sum ?? found?.gauge ?? found?.histogram)?.dataPoints as Json[] | undefined;
  };
  return Object.assign(receiver, {
    spans,
    untilSpans: (count: number, which: (span: ReceivedSpan) => boolean) =>
      eventually(
        () => {
          const found = spans().filter(which);
          return found.length >= count && found;
        },
        { what: `${count} spans`, timeoutMs: 30_000 },
      ),
    points: (name: string) =>
      bodies('/v1/metrics')
        .flatMap((body) => {
          const points = pointsIn(name)(body);
          return points === undefined ? [] : [points];
        })
        .at(-1),
  });
}

function valuesOf(attributes: Json[]): Record<string, string | number | boolean> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.intValue === undefined
        ? (value.stringValue ?? value.doubleValue ?? value.boolValue)
        : Number(value.intValue),
    ]),
  );
}
