import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ADMIN_KEY, API_KEY, startTestServer, type TestServer } from '../support/http-server.ts';

/** Members of a JSON schema that this test reads. */
interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  additionalProperties?: unknown;
}

interface Operation {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: { name: string; in: string }[];
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
  requestBody?: { content: { 'application/json'?: { schema: Schema } } };
}

interface Write extends Operation {
  method: string;
  path: string;
}

interface Read extends Write {
  /** It answers `page_info`. */
  isList: boolean;
}

const UNKNOWN = 'no_such_parameter';
/** Judges names itself, with those of limits. */
const OWN_JUDGES = new Set(['setAccountLimits']);
/** No part of the resources: a session has its own test. */
const OTHER_PATHS = /^\/(e|resume|cancel|oauth)\/|^\/v1\/session$/;

let server: TestServer;
let writes: Write[];
let reads: Read[];
let schemas: Record<string, Schema>;

beforeAll(async () => {
  server = await startTestServer();
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema> };
  };
  ({ schemas } = document.components);
  const all = Object.entries(document.paths)
    .filter(([path]) => !OTHER_PATHS.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method })),
    );
  writes = all.filter(({ method }) => method !== 'get');
  reads = all
    .filter(({ method, path, responses }) => method === 'get' && path.startsWith('/v1/') && isOfJsonAnswer(responses))
    .map((read) => ({ ...read, isList: isListAnswer(read.responses) }));
});
afterAll(() => server.server.stop());
beforeEach(() => {
  server.calls.length = 0;
});

/** Streams go on, and pages are no JSON. */
const isOfJsonAnswer = (responses: Operation['responses']) =>
  responses['200']?.content?.['application/json'] !== undefined;

function isListAnswer(responses: Operation['responses']): boolean {
  const schema = resolve(responses['200']?.content?.['application/json']?.schema);
  return schema?.properties?.['page_info'] !== undefined;
}

async function send({ method, path, security, requestBody }: Write, query: string, body?: unknown) {
  const key = security.some((one) => 'adminKey' in one) ? ADMIN_KEY : API_KEY;
  const type = Object.keys(requestBody?.content ?? {})[0] ?? 'application/json';
  const headers = { authorization: `Bearer ${key}`, 'content-type': type, 'x-headwater-passphrase': 'p'.repeat(20) };
  const response = await fetch(`${server.url}${path.replace('{id}', 'x_1')}${query}`, {
    method: method.toUpperCase(),
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const problem = text === '' ? {} : (JSON.parse(text) as { errors?: { path: string; message: string }[] });
  return { status: response.status, paths: (problem.errors ?? []).map(({ path: at }) => at) };
}

/** Bodies with one unknown name each: one for each object with names of the API. */
function unknownNames(schema: Schema | undefined): { value: unknown; path: string }[] {
  const found = resolve(schema);
  if (found === undefined) return [];
  const branches = [...(found.anyOf ?? []), ...(found.oneOf ?? []), ...(found.allOf ?? [])].flatMap(unknownNames);
  if (found.items !== undefined)
    branches.push(...unknownNames(found.items).map(({ value, path }) => ({ value: [value], path: `0.${path}` })));
  if (found.properties === undefined) return branches;
  // The answers of browsers: later standards add to them.
  const isLoose = typeof found.additionalProperties === 'object';
  const own = isLoose ? [] : [{ value: { [UNKNOWN]: 1 }, path: UNKNOWN }];
  const inside = Object.entries(found.properties).flatMap(([name, member]) =>
    unknownNames(member).map(({ value, path }) => ({ value: { [name]: value }, path: `${name}.${path}` })),
  );
  return [...own, ...inside, ...branches];
}

function resolve(schema: Schema | undefined): Schema | undefined {
  return schema?.$ref === undefined ? schema : schemas[schema.$ref.split('/').at(-1) ?? ''];
}

/** Calls of the engine, except those that read the current state of a resource. */
const changes = () => server.calls.filter(({ name }) => !/\.(get|settings|s3Settings)$/.test(name));

/** A write without a body may have one all the same; an archive is no JSON. */
const isOfJson = ({ requestBody }: Write) =>
  requestBody === undefined || requestBody.content['application/json'] !== undefined;

const judged = () => writes.filter(({ operationId }) => !OWN_JUDGES.has(operationId));

test('every write refuses an unknown parameter in the query string and in the body, by its name', async () => {
  expect(writes.length).toBeGreaterThan(40);
  for (const write of judged()) {
    const inQuery = await send(write, `?${UNKNOWN}=1`);
    const inBody = isOfJson(write) ? await send(write, '', { [UNKNOWN]: 1 }) : inQuery;
    expect([write.operationId, inQuery.status, inBody.status]).toEqual([write.operationId, 400, 400]);
    expect([write.operationId, inQuery.paths, inBody.paths]).toEqual([
      write.operationId,
      expect.arrayContaining([UNKNOWN]),
      expect.arrayContaining([UNKNOWN]),
    ]);
  }
  expect(changes()).toEqual([]);
});

test('and in every object inside of the body', async () => {
  const seen = new Set<string>();
  for (const write of judged()) {
    const { schema } = write.requestBody?.content['application/json'] ?? {};
    for (const { value, path } of unknownNames(schema)) {
      const { status, paths } = await send(write, '', value);
      expect([write.operationId, path, status]).toEqual([write.operationId, path, 400]);
      expect([write.operationId, paths]).toEqual([write.operationId, expect.arrayContaining([path])]);
      seen.add(path);
    }
  }
  expect([...seen]).toEqual(
    expect.arrayContaining([
      `triggers.0.${UNKNOWN}`,
      `steps.0.${UNKNOWN}`,
      `settings.${UNKNOWN}`,
      `settings.throttle.${UNKNOWN}`,
    ]),
  );
  expect(changes()).toEqual([]);
});

test('a member called __proto__ is refused, not left out', async () => {
  const inside = (members: string) => JSON.parse(members.replaceAll('PROTO', '"__proto__":{"a":1}')) as unknown;
  const refused: [operation: string, body: string, path: string][] = [
    ['createSource', '{"configured_props":{PROTO}}', 'configured_props.__proto__'],
    ['updateSource', '{"configured_props":{PROTO}}', 'configured_props.__proto__'],
    ['createWebhook', '{"headers":{PROTO}}', 'headers.__proto__'],
    ['createWorkflow', '{"steps":[{"props":{PROTO}}]}', 'steps.0.props.__proto__'],
    ['createWorkflow', '{"settings":{PROTO}}', 'settings.__proto__'],
  ];
  for (const [operation, body, path] of refused) {
    const write = writes.find(({ operationId }) => operationId === operation);
    if (write === undefined) throw new Error(`No operation ${operation}`);
    const { status, paths } = await send(write, '', inside(body));
    expect([operation, status, paths]).toEqual([operation, 400, [path]]);
  }
  expect(changes()).toEqual([]);
});

test('the document says that there are no others', () => {
  const described = judged().map(({ operationId, requestBody }) => ({
    operationId,
    schema: resolve(requestBody?.content['application/json']?.schema),
  }));
  const open = described.filter(({ schema }) => schema !== undefined && schema.additionalProperties !== false);
  expect(writes.length).toBeGreaterThan(open.length);
  expect(open.map(({ operationId }) => operationId)).toEqual([]);
});

const errorsOf = async (method: string, path: string, body: unknown) => {
  const response = await server.call(path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { errors = [] } = (await response.json()) as { errors?: { path: string; message: string }[] };
  return errors.map(({ path: at, message }) => `${at} ${message}`);
};

test.each([
  ['PUT', '/v1/webhooks/wh_1', { secret: 'x' }, ['secret is shown, and cannot be set']],
  ['POST', '/v1/api_keys', { name: 'a', scope: 'read' }, ['scope is not known here: did you mean scopes?']],
  ['PUT', '/v1/webhooks/wh_1', { descripton: 'x' }, ['descripton is not known here: did you mean description?']],
  [
    'POST',
    '/v1/sources',
    { component_id: 'sc_1', props: {} },
    ['props is not known here: did you mean configured_props?'],
  ],
  [
    'POST',
    '/v1/workflows',
    { steps: [{ namespace: 'a', component_id: 'sc_1', retrys: 1 }], setting: { concurency: 1 } },
    ['setting is not known here: did you mean settings?', 'steps.0.retrys is not known here: did you mean retries?'],
  ],
  [
    'PUT',
    '/v1/workflows/p_1',
    { settings: { throttle: { limit: 1, interval_seconds: 1, burst: 2 } } },
    ['settings.throttle.burst is not known here: did you mean one of limit, interval_seconds?'],
  ],
  [
    'POST',
    '/v1/webhooks',
    { url: 'nonsense', activ: true },
    [expect.stringMatching(/^activ is not known here: did you mean one of url, /), expect.stringMatching(/^url /)],
  ],
])('%s %s with %j is told %j', async (method, path, body, told) => {
  const errors = await errorsOf(method, path, body);
  expect(errors.toSorted()).toEqual(told);
  expect(changes()).toEqual([]);
});

test.each([
  [{ type: 'http', cron: '* * * * *' }, 'triggers.0.cron does not go with a trigger of http'],
  [
    { type: 'timer', interval_seconds: 1, custom_response: true },
    'triggers.0.custom_response does not go with a trigger of timer',
  ],
  [{ source_id: 'dc_1', name: 'x' }, 'triggers.0.name does not go with a trigger of source'],
  [
    { component_id: 'sc_1', interval_seconds: 1 },
    'triggers.0.interval_seconds does not go with a trigger of a source that is deployed',
  ],
  [{ component_id: 'sc_1', component_version: '1' }, 'triggers.0.component_version is a version of a component_key'],
  [
    { component_id: 'sc_1', props: {}, configured_props: {} },
    'triggers.0.configured_props is another name of props: give one of them',
  ],
])('a trigger whose field is meaningless is refused: %j', async (trigger, told) => {
  expect(await errorsOf('POST', '/v1/workflows', { triggers: [trigger] })).toContain(told);
});

test('names inside of props, events and records are the tenant’s', async () => {
  const source = { component_id: 'sc_1', configured_props: { anything: { at: { all: 1 } } } };
  expect(await errorsOf('POST', '/v1/sources', source)).toEqual([]);
  expect(await errorsOf('POST', '/v1/sources/dc_1/run', { event: { [UNKNOWN]: { [UNKNOWN]: 1 } } })).toEqual([]);
});

/** Single things: links to them may carry names of others. */
const isTolerant = ({ path, isList }: Read) => !isList && !/\/(usage|stats)(\/|$)/.test(path);

test('every list takes the parameters with which clients read all of it', async () => {
  const lists = reads.filter(({ isList }) => isList);
  expect(lists.length).toBeGreaterThan(30);
  for (const list of lists) {
    const names = (list.parameters ?? []).map(({ name }) => name);
    expect([list.operationId, names]).toEqual([list.operationId, expect.arrayContaining(['limit', 'after'])]);
    expect([list.operationId, (await send(list, '?limit=100&after=')).paths]).toEqual([
      list.operationId,
      expect.not.arrayContaining(['limit', 'after']),
    ]);
  }
});

test('every list, usage and stats refuse unknown parameters by name, reads of one thing ignore them', async () => {
  const outcome = new Map<string, string>();
  for (const read of reads) {
    const { status, paths } = await send(read, `?${UNKNOWN}=1`);
    outcome.set(read.operationId, paths.includes(UNKNOWN) ? `refused ${status}` : 'passed over');
  }
  expect(reads.length).toBeGreaterThan(40);
  for (const read of reads)
    expect([read.operationId, outcome.get(read.operationId)]).toEqual([
      read.operationId,
      isTolerant(read) ? 'passed over' : 'refused 400',
    ]);
  expect((await errorsOf('GET', '/v1/usage?sinze=2026-11-01', undefined)).join()).toBe(
    'sinze is not known here: did you mean since?',
  );
});

test('a problem lists a bounded number of thousands of unknown names', async () => {
  const body = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`x${i}`, i]));
  expect((await errorsOf('POST', '/v1/webhooks', body)).length).toBeLessThanOrEqual(100);
});
