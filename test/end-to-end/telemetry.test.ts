import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { action } from '../support/executions.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { API_KEY, deploy, startServer, subscribe, type TestServer } from '../support/server.ts';

/** Asks the address that its event names, and emits. */
const SOURCE = `export default { name: 'Orders', version: '1', props: { http: '$.interface.http' },
  async run({ body }) {
    if (body.ask) await fetch(body.ask, { headers: body.headers ?? {} });
    this.$emit(body);
  } };`;

const CALLER = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' };
const TRACEPARENT = `00-${CALLER.traceId}-${CALLER.spanId}-01`;
const QUEUE = 20;

let database: TestDatabase;
let collector: OtlpReceiver;
let receiver: Receiver;
let server: TestServer;
let workflowId: string;
let source: { id: string; endpoint: string };

beforeAll(async () => {
  [database, collector, receiver] = await Promise.all([createTestDatabase(), startOtlpReceiver(), startReceiver()]);
  server = await startServer({
    databaseUrl: database.url,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=a%20secret',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_SERVICE_NAME: 'hw-test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_BSP_MAX_QUEUE_SIZE: String(QUEUE),
      OTEL_METRIC_EXPORT_INTERVAL: '100',
    },
  });
  source = await deploy(server, SOURCE);
  const steps = [
    { namespace: 'look', component_code: action('return 1;') },
    { namespace: 'tell', component_code: action('$.send.emit({ raw_event: { told: true } });') },
  ];
  const made = await server.api('POST', '/workflows', { name: 'Tell', steps });
  if (made.status !== 200) throw new Error(made.text);
  workflowId = made.body.data.id;
  await server.api('POST', `/subscriptions?emitter_id=${source.id}&listener_id=${workflowId}`);
  await subscribe(server, workflowId, `${receiver.url}/hook`);
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([collector?.stop(), receiver?.stop()]);
  await database?.drop();
});

async function send(body: unknown, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return answer.headers.get('x-headwater-run') ?? '';
}

/** A tree as lines, each below its parent. */
function drawn(spans: readonly ReceivedSpan[], parent?: string, depth = 0): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .toSorted((one, other) => (one.startTimeUnixNano < other.startTimeUnixNano ? -1 : 1))
    .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...drawn(spans, span.spanId, depth + 1)]);
}

const TREE = [
  'POST /e/{key}',
  '  invocation',
  '    run source',
  '      event',
  '        invocation',
  '          run workflow',
  '            step',
  '            step',
  '            event',
  '              delivery attempt',
];

test('a request through a source and a workflow to a webhook is one tree of spans', async () => {
  const runId = await send({ n: 1 });
  const spans = await eventually(async () => {
    const all = collector.spans();
    const traceId = all.find(({ attributes }) => attributes['headwater.run.id'] === runId)?.traceId;
    const ofTrace = all.filter((span) => span.traceId === traceId);
    return ofTrace.length >= TREE.length && ofTrace;
  });
  expect(drawn(spans)).toEqual(TREE);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(TREE.length);
  const attempt = spans.find(({ name }) => name === 'delivery attempt');
  expect(attempt).toMatchObject({
    kind: 3,
    resource: { 'service.name': 'hw-test', 'deployment.environment.name': 'test' },
    attributes: { 'headwater.attempt': 1, 'http.response.status_code': 200, 'server.address': '127.0.0.1' },
  });
  for (const { startTimeUnixNano, endTimeUnixNano } of spans)
    expect(BigInt(startTimeUnixNano) <= BigInt(endTimeUnixNano)).toBe(true);
  // Nothing was asked to pass it on.
  const [delivery] = await receiver.until(1);
  expect(delivery?.headers['traceparent']).toBeUndefined();
  expect(collector.requests[0]?.headers['x-collector-key']).toBe('a secret');
});

test('for an account that wants it, the trace of the caller goes on to receivers and fetches', async () => {
  const settings = () => server.api('GET', '/users/me/settings');
  expect((await settings()).body.data.trace_context).toBe(false);
  expect((await server.api('PUT', '/users/me/settings', { trace_context: true })).body.data.trace_context).toBe(true);
  receiver.requests.length = 0;
  const runId = await send({ ask: `${receiver.url}/asked` }, { traceparent: TRACEPARENT, tracestate: 'vendor=1' });
  const [asked, delivery] = (await receiver.until(2)).toSorted((one) => (one.url === '/asked' ? -1 : 1));
  const spans = await eventually(() => {
    const found = collector.spans().filter(({ traceId }) => traceId === CALLER.traceId);
    return found.length >= TREE.length && found;
  });
  expect(drawn(spans, CALLER.spanId)).toEqual(TREE);
  expect(spans.find(({ attributes }) => attributes['headwater.run.id'] === runId)?.traceState).toBe('vendor=1');
  const idOf = (name: string) => spans.find((span) => span.name === name)?.spanId;
  expect(asked?.headers).toMatchObject({
    traceparent: `00-${CALLER.traceId}-${idOf('run source')}-01`,
    tracestate: 'vendor=1',
  });
  expect(delivery?.headers).toMatchObject({
    traceparent: `00-${CALLER.traceId}-${idOf('delivery attempt')}-01`,
    tracestate: 'vendor=1',
  });
  const [kept] = await database.db.sql<
    { traceparent: string }[]
  >`select traceparent from trace_contexts where id = ${runId}`;
  expect(kept?.traceparent).toBe(TRACEPARENT);
});

test('a request without a trace begins one, and a broken traceparent counts as none', async () => {
  receiver.requests.length = 0;
  await send({ n: 3 }, { traceparent: `00-${'0'.repeat(32)}-${CALLER.spanId}-01` });
  const [delivery] = await receiver.until(1);
  expect(delivery?.headers['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(delivery?.headers['traceparent']).not.toContain(CALLER.traceId);
});

test('a component that sends a traceparent of its own sends that, and it makes no span', async () => {
  receiver.requests.length = 0;
  const own = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  await send({ ask: `${receiver.url}/asked`, headers: { Traceparent: own } });
  await receiver.until(2);
  expect(receiver.requests.find(({ url }) => url === '/asked')?.headers['traceparent']).toBe(own);
  expect(collector.spans().some(({ traceId }) => traceId === 'a'.repeat(32))).toBe(false);
});

/** The spans of a request to the API that has a trace, as soon as there are so many. */
async function traceOf(path: string, body: object, count: number): Promise<ReceivedSpan[]> {
  const traceId = randomBytes(16).toString('hex');
  const answer = await fetch(`${server.url}/v1${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
      traceparent: `00-${traceId}-${CALLER.spanId}-01`,
    },
    body: JSON.stringify(body),
  });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  return eventually(
    () => {
      const found = collector.spans().filter((span) => span.traceId === traceId);
      return found.length >= count && found;
    },
    { what: `the spans of ${path}` },
  );
}

test('a workflow that is run by hand goes on in the trace of its caller, and so does what it sends', async () => {
  const told = await startReceiver();
  const code = action(`$.send.http({ method: 'POST', url: '${told.url}', data: { told: true } });`);
  const steps = [{ namespace: 'tell', component_code: code }];
  const { id } = (await server.api('POST', '/workflows', { name: 'Send', steps })).body.data;
  const spans = await traceOf(`/workflows/${id}/run`, {}, 5);
  expect(drawn(spans, CALLER.spanId)).toEqual([
    'POST /v1/workflows/{id}/run',
    '  invocation',
    '    run workflow',
    '      step',
    '      send attempt',
  ]);
  const attempt = spans.find(({ name }) => name === 'send attempt');
  expect(attempt).toMatchObject({
    kind: 3,
    attributes: {
      'headwater.emitter.id': id,
      'headwater.send.kind': 'http',
      'headwater.attempt': 1,
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
    },
  });
  const [request] = await told.until(1);
  expect(request?.headers['traceparent']).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`);
  await told.stop();
});

test('a source that is run by hand, and events that are published, go on in the trace of the caller', async () => {
  const { id } = await deploy(server, SOURCE);
  const run = ['POST /v1/sources/{id}/run', '  invocation', '    run source', '      event'];
  const spans = await traceOf(`/sources/${id}/run`, { event: { body: { n: 1 } } }, run.length);
  expect(drawn(spans, CALLER.spanId)).toEqual(run);
  const events = { events: [{ data: 1 }, { data: 2 }] };
  const published = ['  publish', '    event', '    event'];
  const toSource = await traceOf(`/sources/${id}/events`, events, 4);
  expect(drawn(toSource, CALLER.spanId)).toEqual(['POST /v1/sources/{id}/events', ...published]);
  expect(drawn(await traceOf('/events', events, 4), CALLER.spanId)).toEqual(['POST /v1/events', ...published]);
});

test('the metrics of /metrics are pushed', async () => {
  const points = await eventually(() => {
    const found = collector.points('headwater_ingest_requests_total');
    return (found?.[0]?.asDouble ?? 0) >= 4 && found;
  });
  expect(points?.[0]?.attributes).toEqual([{ key: 'status', value: { stringValue: '200' } }]);
  const [duration] = collector.points('headwater_ingest_duration_seconds') ?? [];
  const counted = duration.bucketCounts.reduce((sum: number, count: string) => sum + Number(count), 0);
  expect([counted, duration.bucketCounts.length]).toEqual([Number(duration.count), duration.explicitBounds.length + 1]);
});

test('a collector that does not answer holds nothing up, and what it misses is counted and told once', async () => {
  const dead = Promise.withResolvers<void>();
  collector.answer = { after: dead.promise };
  receiver.requests.length = 0;
  await Promise.all(Array.from({ length: QUEUE }, (_, n) => send({ n })));
  await receiver.until(QUEUE, 60_000);
  const dropped = await eventually(async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^headwater_telemetry_spans_total\{outcome="dropped"\} (\d+)$/m.exec(text)?.[1] ?? 0) || false;
  });
  expect(dropped).toBeGreaterThan(0);
  expect(server.process.output().match(/traces do not reach their collector/g)).toHaveLength(1);
  expect(server.process.output()).not.toContain('a secret');
  collector.answer = {};
  dead.resolve();
});
