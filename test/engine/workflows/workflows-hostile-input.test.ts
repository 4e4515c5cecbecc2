import { fc } from '../../support/properties.ts';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { action } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { makeWorkflow, type Workflow } from '../../support/workflow-steps.ts';

const errors: string[] = [];
const log = pino({ level: 'error' }, { write: (line) => void errors.push(line) });
let hw: Headwater;
let flow: Workflow;
let executionId: string;

beforeAll(async () => {
  hw = await startHeadwater({ log });
  await hw.api('PUT', '/environment_variables/TOKEN', { value: 'a-value-of-the-environment' });
  flow = await makeWorkflow(hw, { ...RIGHT, triggers: [{ type: 'http' }] });
  executionId = (await hw.api('POST', `/workflows/${flow.id}/run`, { event: {} })).data.execution_id;
});
afterAll(() => hw?.stop());

const COMPONENT = action(
  'return [this.text, this.data];',
  'text: "string", data: { type: "object", optional: true }, token: { type: "string", secret: true, optional: true }',
);
/** A valid workflow. Each request of the tests makes one or a few parts invalid. */
const RIGHT = {
  name: 'Nearly right',
  triggers: [
    { type: 'http', custom_response: false },
    { type: 'timer', cron: '0 9 * * 1-5', timezone: 'Europe/Paris' },
  ],
  steps: [
    {
      namespace: 'first',
      component_code: COMPONENT,
      props: { text: '{{steps.trigger.event.body}}', token: '{{env.TOKEN}}' },
    },
    {
      namespace: 'second',
      component_code: COMPONENT,
      props: { text: '{{steps.first.$return_value[0]}}', data: { a: ['{{1}}'] } },
    },
  ],
  settings: {
    timeout_seconds: 5,
    memory_mb: 64,
    concurrency: 2,
    throttle: { limit: 5, interval_seconds: 1 },
    retries: 0,
  },
};

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const wrong = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom<unknown>(
    '\u0000',
    '\ud800',
    '{{',
    '{{}}',
    '{{steps.first}}',
    '{{steps.__proto__.x}}',
    '{{steps["constructor"]}}',
    '{{(() => { for (;;); })()}}',
    `{{${'['.repeat(2000)}${']'.repeat(2000)}}}`,
    '{{`${steps.trigger}`}}',
    '\\{{x}}',
    '__proto__',
    'constructor',
    -1,
    2 ** 53,
    1e308,
    null,
    deep(1500),
    JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":1}}'),
    { $sealed: 'v2.x.y' },
    'p_*',
    '1795205532412-0',
    'x'.repeat(70_000),
  ),
);

type Place = (string | number)[];

/** The places of everything in a value, itself included. */
function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, inner]) => placesOf(inner, [...at, name]))];
}

function replaceAt(value: unknown, [name, ...rest]: Place, by: unknown): unknown {
  if (name === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as Record<string | number, unknown>;
  copy[name] = replaceAt(copy[name], rest, by);
  return copy;
}

/** The value with one to three members replaced by wrong ones. */
function nearly(right: object): fc.Arbitrary<unknown> {
  const change = fc.record({ at: fc.constantFrom(...placesOf(right).filter((place) => place.length > 0)), by: wrong });
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => changes.reduce<unknown>((value, { at, by }) => replaceAt(value, at, by), right));
}

/** Valid requests; names in braces stand for ids of existing resources. */
const TAKEN: readonly { method: 'POST' | 'PUT'; path: string; body: object }[] = [
  { method: 'POST', path: '/workflows', body: RIGHT },
  { method: 'PUT', path: '/workflows/{flow}', body: RIGHT },
  { method: 'POST', path: '/workflows/{flow}/test', body: { event: { body: 'a' }, up_to: 'second' } },
  { method: 'POST', path: '/workflows/{flow}/test', body: { event_id: '{execution}', step: 'first' } },
  { method: 'POST', path: '/workflows/{flow}/run', body: { event: { body: 'a' } } },
  { method: 'POST', path: '/executions/{execution}/replay', body: { from: 'start', deployment: 'newest' } },
  { method: 'PUT', path: '/environment_variables/OTHER', body: { value: 'v', description: 'd' } },
  { method: 'POST', path: '/workflows/{flow}/deploy', body: { deployment_id: '{deployment}' } },
  { method: 'POST', path: '/subscriptions', body: { emitter_id: 'p_*', listener_id: '{flow}', event_name: 'other' } },
  {
    method: 'PUT',
    path: '/sends/s3',
    body: { region: 'r', access_key_id: 'a', secret_access_key: 's', endpoint: 'http://127.0.0.1:9000' },
  },
];

/** Requests that go deeper than the checks of their parameters. */
const request = fc
  .oneof(
    ...TAKEN.map(({ method, path, body }) => nearly(body).map((changed) => ({ method, path, body: changed }))),
    fc
      .constantFrom('sse', 'logs', 'executions', 'event_summaries', '$errors/event_summaries', 'deployments')
      .chain((list) =>
        fc.string({ unit: 'binary', maxLength: 40, size: 'max' }).map((text) => ({
          method: 'GET',
          path: `/workflows/{flow}/${list}?last_event_id=${escape(text)}&after=${escape(text)}&limit=2&status=${escape(text)}`,
        })),
      ),
    fc
      .string({ unit: 'binary', maxLength: 60, size: 'max' })
      .chain((id) =>
        fc
          .constantFrom('/traces/', '/executions/', '/workflows/', '/environment_variables/')
          .map((path) => ({ method: 'GET', path: path + escape(id) })),
      ),
  )
  .map((asked) => ({ body: undefined, ...asked }));

function escape(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

/** The status, and what the problem document says it is. */
async function send(method: string, path: string, body: unknown): Promise<{ status: number; told: number }> {
  const there = (text: string) =>
    text
      .replace('{flow}', flow.id as string)
      .replace('{execution}', executionId)
      .replace('{deployment}', flow.deployment_id as string);
  const url = `${hw.url}/v1${there(path)}`;
  const abort = new AbortController();
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${hw.apiKey}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: there(JSON.stringify(body)) }),
    signal: abort.signal,
  });
  const { status } = answer;
  // A stream has no end.
  if (answer.headers.get('content-type') === 'text/event-stream') abort.abort();
  const told = status < 400 ? status : ((await answer.json()) as { status: number }).status;
  return { status, told };
}

test.each(TAKEN)('$method $path is taken as it stands: only the changed part is checked', async (asked) => {
  expect((await send(asked.method, asked.path, asked.body)).status).toBeLessThan(300);
});

test('requests that are wrong in a few places are refused by name or taken, and never end in a 5xx', async () => {
  const statuses = new Set<number>();
  const property = fc.asyncProperty(request, async ({ method, path, body }) => {
    const { status, told } = await send(method, path, body);
    statuses.add(status);
    expect(status).toBeLessThan(500);
    expect(told).toBe(status);
  });
  await fc.assert(property, { numRuns: 300 });
  // Some got past the checks, and some did not: else this would say nothing.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404]));
  expect(errors).toEqual([]);
});

test('links of executions that are made up, and hostile requests to an endpoint, do nothing and never end in a 5xx', async () => {
  const [{ endpoint_url: endpoint }] = flow.triggers;
  const text = fc.string({ unit: 'binary', maxLength: 60, size: 'max' });
  const property = fc.asyncProperty(text, text, wrong, async (id, token, body) => {
    for (const verb of ['resume', 'cancel']) {
      const url = `${hw.url}/${verb}/${escape(id) || 'x'}/${escape(token) || 'x'}`;
      expect([400, 404]).toContain((await post(url, body)).status);
      expect([400, 404]).toContain((await fetch(url)).status);
    }
    expect((await post(`${endpoint as string}/${escape(id)}?a=${escape(token)}`, body)).status).toBeLessThan(500);
  });
  await fc.assert(property, { numRuns: 40 });
  expect(errors).toEqual([]);
});
