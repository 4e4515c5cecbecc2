import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createQueryTurns } from '../../api/src/query-turns.ts';
import { LIMITS } from '../../shared/src/index.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';

let hw: Headwater;
const ids = { workflow: '', source: '', store: '' };

const COMPONENT = `export default { name: 'Plain', version: '1', type: 'action', run() {} };`;
const SOURCE = `export default { name: 'Source', version: '1', props: { http: '$.interface.http' }, run() {} };`;

beforeAll(async () => {
  hw = await sharedHeadwater();
  const workflow = await hw.api('POST', '/workflows', { name: 'W', triggers: [{ type: 'http' }], steps: [step()] });
  ids.workflow = workflow.data.id;
  ids.source = (await hw.deploy(SOURCE)).id;
  ids.store = (await hw.api('POST', '/data_stores', { name: 'S' })).data.id;
});
afterAll(() => hw.stop());
beforeEach(() => hw.limit({ executionWallMs: null, memoryMb: null }));

function step(more: Record<string, unknown> = {}) {
  return { namespace: 'one', component_code: COMPONENT, ...more };
}

type Name = keyof typeof LIMITS;

/** One character more than the limit. */
const over = (name: Name, around = '') => 'a'.repeat(LIMITS[name] + 1 - around.length) + around;

async function limitOf(method: 'GET' | 'POST' | 'PUT', path: string, parameters: Record<string, unknown>) {
  const api = path.startsWith('/apps') || path.startsWith('/accounts') ? hw.admin : hw.api;
  const { status, text } = await api(method, path, parameters);
  const { limit } = JSON.parse(text) as { limit?: unknown };
  return { status, limit };
}

type Row = [name: Name, method: 'GET' | 'POST' | 'PUT', path: () => string, parameters: Record<string, unknown>];

const url = 'https://receiver.example/';
const longHost = `https://${over('maxUrlHostChars')}/`;

const KEYS = { auth_type: 'keys', name: 'A', fields: [{ name: 'key', label: 'Key' }] };

/** Parameters that exceed their limit by one. */
const BY_ONE: Row[] = [
  ['maxNameChars', 'POST', () => '/webhooks', { url, name: over('maxNameChars') }],
  ['maxNameChars', 'POST', () => '/workflows', { name: over('maxNameChars') }],
  ['maxNameChars', 'POST', () => '/api_keys', { name: over('maxNameChars') }],
  ['maxNameChars', 'POST', () => '/accounts', { name: over('maxNameChars') }],
  ['maxEmailChars', 'POST', () => '/accounts', { name: 'A', email: over('maxEmailChars', '@example.org') }],
  ['maxDescriptionChars', 'POST', () => '/webhooks', { url, description: over('maxDescriptionChars') }],
  ['maxUrlChars', 'POST', () => '/webhooks', { url: url.padEnd(LIMITS.maxUrlChars + 1, 'a') }],
  ['maxUrlHostChars', 'POST', () => '/webhooks', { url: longHost }],
  [
    'maxUrlHostChars',
    'PUT',
    () => '/sends/s3',
    { region: 'eu', access_key_id: 'a', secret_access_key: 'b', endpoint: longHost },
  ],
  [
    'maxUrlChars',
    'POST',
    () => '/apps',
    { ...KEYS, name_slug: 'typed', docs_url: url.padEnd(LIMITS.maxUrlChars + 1, 'a') },
  ],
  ['maxIdChars', 'POST', () => '/sources', { component_id: over('maxIdChars') }],
  ['maxPageSize', 'GET', () => '/webhooks', { limit: LIMITS.maxPageSize + 1 }],
  ['maxPageSize', 'GET', () => `/sources/${ids.source}/runs`, { limit: LIMITS.maxPageSize + 1 }],
  ['recentEvents', 'GET', () => `/sources/${ids.source}/event_summaries`, { limit: LIMITS.recentEvents + 1 }],
  ['maxCursorChars', 'GET', () => '/webhooks', { after: over('maxCursorChars') }],
  ['maxFieldsChars', 'GET', () => '/webhooks', { include: over('maxFieldsChars') }],
  ['maxChannelChars', 'GET', () => `/sources/${ids.source}/event_summaries`, { event_name: over('maxChannelChars') }],
  ['maxDataStoreKeyBytes', 'GET', () => `/data_stores/${ids.store}/record`, { key: over('maxDataStoreKeyBytes') }],
  [
    'maxDataStoreTtlSeconds',
    'PUT',
    () => `/data_stores/${ids.store}/record`,
    { key: 'a', value: 1, ttl: LIMITS.maxDataStoreTtlSeconds + 1 },
  ],
  ['maxEnvironmentNameChars', 'PUT', () => `/environment_variables/${over('maxEnvironmentNameChars')}`, { value: 'a' }],
  ['maxEnvironmentValueBytes', 'PUT', () => '/environment_variables/A', { value: over('maxEnvironmentValueBytes') }],
  ['maxStackNameChars', 'PUT', () => `/stacks/${over('maxStackNameChars')}`, { holder: 'a' }],
  ['maxStackHoldSeconds', 'PUT', () => '/stacks/a', { holder: 'a', hold_seconds: LIMITS.maxStackHoldSeconds + 1 }],
  [
    'maxStackResources',
    'PUT',
    () => '/stacks/a',
    {
      holder: 'a',
      resources: Object.keys(namesOf(LIMITS.maxStackResources + 1)).map((key) => ({ kind: 'source', key, id: 'dc_a' })),
    },
  ],
  ['maxComponentCodeBytes', 'POST', () => '/components', { component_code: over('maxComponentCodeBytes') }],
  ['maxComponentCodeBytes', 'POST', () => '/components', { component_code: over('maxComponentCodeBytes', '\0') }],
  ['maxFormFields', 'POST', () => '/sources', { configured_props: namesOf(LIMITS.maxFormFields + 1) }],
  ['maxJsonDepth', 'POST', () => '/sources', { configured_props: { a: nested(LIMITS.maxJsonDepth) } }],
  ['maxJsonDepth', 'POST', () => '/workflows', { steps: [step({ props: { a: nested(LIMITS.maxJsonDepth) } })] }],
  ['maxStepRetries', 'POST', () => '/workflows', { steps: [step({ retries: LIMITS.maxStepRetries + 1 })] }],
  ['maxNamespaceChars', 'POST', () => '/workflows', { steps: [step({ namespace: over('maxNamespaceChars') })] }],
  [
    'maxNamespaceChars',
    'POST',
    () => `/workflows/${ids.workflow}/test`,
    { steps: [step({ namespace: over('maxNamespaceChars') })] },
  ],
  [
    'maxChannelChars',
    'POST',
    () => '/workflows',
    { triggers: [{ source_id: 'dc_a', event_name: over('maxChannelChars') }] },
  ],
  ...settings('maxWorkflowConcurrency', (most) => ({ concurrency: most })),
  ...settings('maxThrottleLimit', (most) => ({ throttle: { limit: most, interval_seconds: 1 } })),
  ...settings('maxThrottleIntervalSeconds', (most) => ({ throttle: { limit: 1, interval_seconds: most } })),
  ...settings('maxWorkflowQueueLimit', (most) => ({ queue_limit: most })),
  ...settings('maxStepRetries', (most) => ({ retries: most })),
  ...described('maxNameChars', (text) => `name: '${text}', version: '1'`),
  ...described('maxNameChars', (text) => `name: 'A', version: '${text}'`),
  ...described('maxNameChars', (text) => `name: 'A', version: '1', key: '${text}'`),
  ...described('maxDescriptionChars', (text) => `name: 'A', version: '1', description: '${text}'`),
  ...described('maxNameChars', (text) => `name: 'A', version: '1', props: { ${text}: { type: 'string' } }`),
];

function settings(name: Name, of: (most: number) => Record<string, unknown>): Row[] {
  return [[name, 'POST', () => '/workflows', { settings: of(LIMITS[name] + 1) }]];
}

function described(name: Name, of: (text: string) => string): Row[] {
  const code = `export default { ${of(over(name))}, type: 'action', run() {} };`;
  return [[name, 'POST', () => '/components', { component_code: code }]];
}

function namesOf(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i]));
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
}

test.each(BY_ONE.map((row, i) => [`${i} ${row[0]}`, row] as const))(
  'a value over a limit by one is refused with it: %s',
  async (_, [name, method, path, parameters]) => {
    const value = LIMITS[name];
    expect(await limitOf(method, path(), parameters)).toEqual({ status: 400, limit: { name, value, used: value + 1 } });
  },
);

test('settings that are bounded by limits of the account are refused with those', async () => {
  await hw.limit({ executionWallMs: 20_000, memoryMb: 64 });
  expect(await limitOf('POST', '/workflows', { settings: { timeout_seconds: 21 } })).toEqual({
    status: 400,
    limit: { name: 'executionWallMs', value: 20_000, used: 21_000 },
  });
  await hw.limit({ executionWallMs: 20_500 });
  const between = await limitOf('POST', '/workflows', { settings: { timeout_seconds: 20.3 } });
  expect(between).toEqual({ status: 400, limit: undefined });
  expect(await limitOf('POST', '/workflows', { settings: { memory_mb: 65 } })).toEqual({
    status: 400,
    limit: { name: 'memoryMb', value: 64, used: 65 },
  });
});

test('the first limit among several mistakes is reported, and lower bounds and formats are no limits', async () => {
  const several = { name: over('maxNameChars'), description: over('maxDescriptionChars') };
  expect(await limitOf('POST', '/webhooks', { url: 'no URL', ...several })).toEqual({
    status: 400,
    limit: { name: 'maxNameChars', value: LIMITS.maxNameChars, used: LIMITS.maxNameChars + 1 },
  });
  const steps = [step({ namespace: '1', retries: -1 }), step({ retries: 11 })];
  expect(await limitOf('POST', '/workflows', { steps, settings: { concurrency: 1e6 } })).toEqual({
    status: 400,
    limit: { name: 'maxStepRetries', value: 10, used: 11 },
  });
  for (const parameters of [
    { settings: { concurrency: 0, retries: 1.5 } },
    { steps: [step({ namespace: '1', retries: -1 })] },
    { name: '' },
  ])
    expect(await limitOf('POST', '/workflows', parameters)).toEqual({ status: 400, limit: undefined });
  expect(await limitOf('GET', '/webhooks', { limit: 0 })).toEqual({ status: 400, limit: undefined });
});

test('limits are told beside the fields, not in them', async () => {
  const { text } = await hw.api('POST', '/webhooks', { url, name: over('maxNameChars') });
  expect(JSON.parse(text)).toMatchObject({ errors: [{ path: 'name', message: 'is longer than 256 characters' }] });
  expect(JSON.parse(text).errors[0]).not.toHaveProperty('limit');
});

test('keys are measured in bytes', async () => {
  const key = 'é'.repeat(LIMITS.maxDataStoreKeyBytes / 2 + 1);
  const limit = { name: 'maxDataStoreKeyBytes', value: LIMITS.maxDataStoreKeyBytes, used: 1_026 };
  expect(await limitOf('GET', `/data_stores/${ids.store}/record`, { key })).toEqual({ status: 400, limit });
  expect(await limitOf('GET', `/data_stores/${ids.store}/record`, { key: key + key })).toMatchObject({
    limit: { ...limit, used: 2_052 },
  });
  expect(await limitOf('GET', `/data_stores/${ids.store}/records`, { prefix: key })).toEqual({ status: 400, limit });
  const { text } = await hw.api('GET', `/data_stores/${ids.store}/record`, { key });
  expect(JSON.parse(text)).toMatchObject({ errors: [{ path: 'key', message: 'is longer than 1024 bytes' }] });
});

/** A body that has too much of something; it is counted no further. */
async function limitOfBody(body: string, contentType = 'application/json') {
  const headers = { authorization: `Bearer ${hw.apiKey}`, 'content-type': contentType };
  const response = await fetch(`${hw.url}/v1/sources`, { method: 'POST', headers, body });
  return { status: response.status, limit: ((await response.json()) as { limit?: unknown }).limit };
}

test('JSON and forms of too many parts are refused with the limit', async () => {
  const { maxApiJsonValues, maxApiJsonLists, maxApiJsonNames, maxFormFields } = LIMITS;
  const told = (name: Name) => ({ status: 400, limit: { name, value: LIMITS[name], used: LIMITS[name] + 1 } });
  expect(await limitOfBody(`[${'1,'.repeat(maxApiJsonValues)}1]`)).toEqual(told('maxApiJsonValues'));
  expect(await limitOfBody(`[${'[],'.repeat(maxApiJsonLists)}1]`)).toEqual(told('maxApiJsonLists'));
  const names = JSON.stringify(namesOf(2 * maxApiJsonNames));
  expect(await limitOfBody(names)).toEqual(told('maxApiJsonNames'));
  expect(await limitOfBody('a=1&'.repeat(maxFormFields), 'application/x-www-form-urlencoded')).toEqual(
    told('maxFormFields'),
  );
  const lists = encodeURIComponent(`[${'[],'.repeat(maxApiJsonLists)}1]`);
  expect(await limitOfBody(`configured_props=${lists}`, 'application/x-www-form-urlencoded')).toEqual(
    told('maxApiJsonLists'),
  );
});

test('an event by hand that is larger as JSON than a request may be is refused with the limit', async () => {
  const event = 'a'.repeat(LIMITS.maxHttpBodyBytes - 1);
  const limit = { name: 'maxHttpBodyBytes', value: LIMITS.maxHttpBodyBytes, used: LIMITS.maxHttpBodyBytes + 1 };
  for (const path of [
    `/sources/${ids.source}/run`,
    `/workflows/${ids.workflow}/run`,
    `/workflows/${ids.workflow}/test`,
  ])
    expect([path, await limitOf('POST', path, { event })]).toEqual([path, { status: 413, limit }]);
});

test('a request with too long a host, or too large headers, is refused with the limit', async () => {
  const problemOf = async (headers: Record<string, string>) => {
    const sent = request(`${hw.url}/v1/users/me`, { headers });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode, ...((await json(response)) as object) };
  };
  const { maxUrlHostChars, maxHeaderBytes } = LIMITS;
  expect(await problemOf({ host: over('maxUrlHostChars') })).toMatchObject({
    status: 400,
    limit: { name: 'maxUrlHostChars', value: maxUrlHostChars, used: maxUrlHostChars + 1 },
  });
  expect(await problemOf({ 'x-large': 'a'.repeat(maxHeaderBytes) })).toMatchObject({
    status: 431,
    limit: { name: 'maxHeaderBytes', value: maxHeaderBytes, used: maxHeaderBytes + 1 },
  });
});

test('a request that waits too long for others of its account is refused with the limit', async () => {
  const turns = createQueryTurns({ hasOthers: () => false, maxWaitMs: 50 });
  const never = () => new Promise<null>(() => undefined);
  for (let n = 0; n < LIMITS.maxQueriesPerTenant; n++) void turns.run('o_1', never);
  const value = LIMITS.maxRequestWaitMs;
  await expect(turns.run('o_1', never)).rejects.toMatchObject({
    limit: { name: 'maxRequestWaitMs', value, used: value },
  });
});
