import { expect, test } from 'vitest';
import { readConfig } from '../../api/src/config.ts';
import { createSampler } from '../../api/src/telemetry/sampler.ts';
import { createSpanQueue } from '../../api/src/telemetry/span-queue.ts';
import type { Span } from '../../engine/src/contract/spans.ts';
import { readCallerTrace, spanIdOf, traceIdOf } from '../../engine/src/tracing/trace-ids.ts';

const ENDPOINT = 'http://127.0.0.1:4318';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

function telemetryOf(env: Record<string, string>) {
  const outcome = readConfig(env, []);
  return outcome.ok ? outcome.config.telemetry : outcome.problems;
}

test('without an endpoint there is no telemetry, nor with an SDK that is disabled', () => {
  expect(telemetryOf({ OTEL_SERVICE_NAME: 'x' })).toBeUndefined();
  expect(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  expect(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: '' })).toBeUndefined();
});

test('an endpoint is for both signals, and each may have its own', () => {
  expect(telemetryOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `${ENDPOINT}/` })).toMatchObject({
    serviceName: 'headwater',
    traces: {
      url: `${ENDPOINT}/v1/traces`,
      timeoutMs: 10_000,
      maxQueue: 2048,
      sampler: { ratio: 1, isParentBased: true },
    },
    metrics: { url: `${ENDPOINT}/v1/metrics`, intervalMs: 60_000 },
  });
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:1/in', OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'a=b%3D' };
  const only = telemetryOf(own);
  expect(only).toMatchObject({ traces: { url: 'http://traces:1/in', headers: { a: 'b=' } } });
  expect(only).not.toHaveProperty('metrics');
});

test('unsupported settings are reported at the start, without values of headers', () => {
  const problems = telemetryOf({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'secret-without-a-name',
    OTEL_TRACES_SAMPLER: 'jaeger_remote',
    OTEL_TRACES_SAMPLER_ARG: '2',
  });
  expect(problems).toHaveLength(5);
  expect(JSON.stringify(problems)).toContain('does not speak grpc');
  expect(JSON.stringify(problems)).not.toContain('secret-without');
});

test('a share of traces is the same on every node, and the caller decides where the sampler asks him', () => {
  const half = createSampler({ isParentBased: false, ratio: 0.5 });
  const ids = Array.from({ length: 1_000 }, (_, i) => traceIdOf(`inv_${i}`));
  const taken = ids.filter((id) => half(id, undefined)).length;
  expect(taken).toBeGreaterThan(400);
  expect(taken).toBeLessThan(600);
  expect(half(ids[0] ?? '', true)).toBe(half(ids[0] ?? '', undefined));
  const parental = createSampler({ isParentBased: true, ratio: 0 });
  expect([parental(TRACE, true), parental(TRACE, false), parental(TRACE, undefined)]).toEqual([true, false, false]);
});

test.each([
  ['', undefined],
  [`00-${TRACE}-${PARENT}-01`, { traceId: TRACE, parentSpanId: PARENT, parentSampled: true }],
  [`00-${TRACE}-${PARENT}-00`, { traceId: TRACE, parentSpanId: PARENT, parentSampled: false }],
  [`cc-${TRACE}-${PARENT}-03-more`, { traceId: TRACE, parentSpanId: PARENT, parentSampled: true }],
  [`00-${TRACE}-${PARENT}-01-more`, undefined],
  [`ff-${TRACE}-${PARENT}-01`, undefined],
  [`00-${TRACE.toUpperCase()}-${PARENT}-01`, undefined],
  [`00-${'0'.repeat(32)}-${PARENT}-01`, undefined],
  [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  [`00-${TRACE}-${PARENT}-01${'-'.repeat(1_000)}`, undefined],
])('traceparent %s', (traceparent, context) => {
  expect(readCallerTrace({ traceparent })).toEqual(context);
});

test('a tracestate that no header could hold is dropped, and the trace stays', () => {
  const read = (tracestate: string) => readCallerTrace({ traceparent: `00-${TRACE}-${PARENT}-01`, tracestate });
  expect(read('a=1,b=2')?.traceState).toBe('a=1,b=2');
  for (const wrong of ['', 'a=1\r\nx: y', 'é=1', 'a'.repeat(513)]) {
    expect(read(wrong)?.traceId).toBe(TRACE);
    expect(read(wrong)?.traceState).toBeUndefined();
  }
});

test('ids are hex of their length, and of one thing always the same', () => {
  expect(traceIdOf('inv_1')).toMatch(/^[0-9a-f]{32}$/);
  expect(spanIdOf('attempt', 'dlv_1', 2)).toMatch(/^[0-9a-f]{16}$/);
  expect(spanIdOf('attempt', 'dlv_1', 2)).toBe(spanIdOf('attempt', 'dlv_1', 2));
  expect(spanIdOf('run', 'inv_1')).not.toBe(spanIdOf('invocation', 'inv_1'));
});

const SPAN: Span = {
  traceId: TRACE,
  spanId: PARENT,
  name: 'x',
  kind: 'internal',
  startedAtMs: 0,
  endedAtMs: 0,
  attributes: {},
};

test('an account that fills the queue drops spans of its own, and the others keep theirs', async () => {
  let dropped = 0;
  const sent: Span[] = [];
  const queue = createSpanQueue({
    maxQueue: 16,
    maxBatch: 100,
    delayMs: 3_600_000,
    send: async (spans) => {
      sent.push(...spans);
      return { kind: 'sent' };
    },
    onSent: () => undefined,
    onDropped: (count) => {
      dropped += count;
    },
  });
  const add = (account: string, count: number) => {
    for (let i = 0; i < count; i++)
      queue.add({ ...SPAN, spanId: String(i), attributes: { 'headwater.account.id': account } });
  };
  add('flood', 1_000);
  add('calm', 4);
  add('flood', 1_000);
  add('other', 2);
  await queue.stop();
  const idsOf = (account: string) =>
    sent.filter(({ attributes }) => attributes['headwater.account.id'] === account).map(({ spanId }) => Number(spanId));
  expect([idsOf('calm'), idsOf('other')]).toEqual([
    [0, 1, 2, 3],
    [0, 1],
  ]);
  // The oldest ones: alone it had the whole queue.
  expect(idsOf('flood')).toEqual(Array.from({ length: 10 }, (_, i) => i));
  expect(dropped).toBe(2_006 - 16);
});

test('a queue whose collector never answers holds its bound and no more, and stops', async () => {
  const dropped: number[] = [];
  const answer = Promise.withResolvers<{ kind: 'again'; why: string }>();
  const held: number[] = [];
  const queue = createSpanQueue({
    maxQueue: 10,
    maxBatch: 5,
    delayMs: 3_600_000,
    send: (spans) => {
      held.push(spans.length);
      return answer.promise;
    },
    onSent: () => undefined,
    onDropped: (count) => dropped.push(count),
  });
  for (let i = 0; i < 100; i++) queue.add(SPAN);
  expect(held).toEqual([5]);
  expect(dropped).toHaveLength(85);
  answer.resolve({ kind: 'again', why: 'away' });
  await queue.stop();
  expect(dropped.reduce((sum, count) => sum + count, 0)).toBe(100);
});
