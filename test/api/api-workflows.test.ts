import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../support/http-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.server.stop());
beforeEach(() => {
  server.calls.length = 0;
});

const send = (method: string, path: string, body: unknown) =>
  server.call(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
/** Arguments of the last call of the engine, without the caller. */
const asked = () => server.calls.at(-1)?.args.slice(1);

test('the type of a trigger follows from its type field or from the resource it names', async () => {
  const triggers = [
    { type: 'http' },
    { type: 'http', custom_response: true, id: 'hi_1' },
    { interval_seconds: 60 },
    { type: 'timer', cron: '* * * * *', timezone: 'UTC', id: 'ti_1' },
    { source_id: 'dc_1' },
    { type: 'source', source_id: 'p_1', event_name: 'done', id: 'p_1' },
    { component_key: 'rss', component_version: '1', props: { url: 'x' }, event_name: 'new', name: 'Feed' },
    { type: 'source', component_code: 'code', configured_props: { a: 1 } },
  ];
  expect((await send('POST', '/v1/workflows', { triggers })).status).toBe(200);
  expect(asked()).toEqual([
    {
      triggers: [
        { type: 'http' },
        { type: 'http', id: 'hi_1', customResponse: true },
        { type: 'timer', schedule: { intervalSeconds: 60 } },
        { type: 'timer', id: 'ti_1', schedule: { cron: '* * * * *', timezone: 'UTC' } },
        { type: 'source', sourceId: 'dc_1' },
        { type: 'source', sourceId: 'p_1', eventName: 'done' },
        {
          type: 'deploy',
          componentKey: 'rss',
          componentVersion: '1',
          configuredProps: { url: 'x' },
          eventName: 'new',
          name: 'Feed',
        },
        { type: 'deploy', componentCode: 'code', configuredProps: { a: 1 } },
      ],
    },
  ]);
});

test('an HTTP trigger answers itself where it says so, or else where the code of a step calls $.respond', async () => {
  const steps = [{ namespace: 'a', component_code: 'export default { run({ $ }) { $.respond({ status: 201 }); } };' }];
  const triggers = [{ type: 'http' }, { type: 'http', custom_response: false }, { interval_seconds: 60 }];
  await send('POST', '/v1/workflows', { triggers, steps });
  expect(asked()).toMatchObject([
    {
      triggers: [
        { type: 'http', customResponse: true },
        { type: 'http', customResponse: false },
        { type: 'timer', schedule: { intervalSeconds: 60 } },
      ],
    },
  ]);
  const quiet = [{ namespace: 'a', component_code: 'export default { run() { return respond(1); } };' }];
  await send('POST', '/v1/workflows', {
    triggers: [{ type: 'http' }, { type: 'http', customResponse: true }],
    steps: quiet,
  });
  expect(asked()).toMatchObject([{ triggers: [{ type: 'http' }, { type: 'http', customResponse: true }] }]);
});

test('steps and settings are passed on, and null takes a setting back', async () => {
  const steps = [{ id: 'c_1', namespace: 'a', component_id: 'sc_1', props: { a: null }, configurable_props: [] }];
  const settings = {
    timeout_seconds: 5,
    throttle: { limit: 1, interval_seconds: 2 },
    concurrency: null,
    auto_deploy: false,
  };
  await send('PUT', '/v1/workflows/p_1', { name: 'N', active: false, steps, settings });
  expect(asked()).toEqual([
    'p_1',
    {
      name: 'N',
      active: false,
      steps: [{ id: 'c_1', namespace: 'a', componentId: 'sc_1', configuredProps: { a: null } }],
      settings: {
        timeoutSeconds: 5,
        throttle: { limit: 1, intervalSeconds: 2 },
        concurrency: null,
        autoDeploy: false,
      },
    },
    // Made for no state in particular.
    undefined,
  ]);
});

test('a query string does as well as a body', async () => {
  const triggers = encodeURIComponent(JSON.stringify([{ type: 'http' }]));
  await server.call(`/v1/workflows?name=N&triggers=${triggers}`, { method: 'POST' });
  expect(asked()).toEqual([{ name: 'N', triggers: [{ type: 'http' }] }]);
  await server.call('/v1/workflows/p_1/run?event={"a":1}', { method: 'POST' });
  expect(asked()).toEqual(['p_1', { a: 1 }, undefined]);
  await server.call('/v1/environment_variables/A?value=1', { method: 'PUT' });
  expect(asked()).toEqual(['A', { value: '1' }]);
});

test('a value of a wrong type is named with its place', async () => {
  const answer = await send('POST', '/v1/workflows', {
    name: '',
    triggers: [{ type: 'http', custom_response: 'yes' }, 5, { source_id: 'dc_1', component_id: 'sc_1' }],
    steps: [{}, { namespace: 'a', props: [] }, { namespace: 'b', component_id: 'sc_1', component_code: 'x' }],
    settings: { retries: '3', throttle: { limit: 1 } },
  });
  const { errors } = (await answer.json()) as { errors: { path: string }[] };
  expect([answer.status, errors.map(({ path }) => path)]).toEqual([
    400,
    [
      'name',
      'triggers.0.custom_response',
      'triggers.1',
      'triggers.2.source_id',
      'steps.0.namespace',
      'steps.1.props',
      'steps.2.component_id',
      'settings.throttle.interval_seconds',
      'settings.retries',
    ],
  ]);
});

test('a workflow is shown so that it can be given back', async () => {
  const { data } = (await (await server.call('/v1/workflows/p_1')).json()) as { data: Record<string, unknown> };
  expect(data['triggers']).toEqual([
    { id: 'hi_1', type: 'http', endpoint_url: 'http://localhost:3000/e/abc', custom_response: false },
    { id: 'ti_1', type: 'timer', cron: '0 9 * * *', timezone: 'Europe/Paris' },
    { id: 'dc_1', type: 'source', source_id: 'dc_1', event_name: '', deployed: true },
  ]);
  const steps = [{ id: 'c_1', namespace: 'greet', component_id: 'sc_1', configurable_props: [] }];
  expect((await send('PUT', '/v1/workflows/p_1', { ...data, steps })).status).toBe(200);
  expect(asked()?.[1]).toMatchObject({
    triggers: [{ id: 'hi_1' }, { id: 'ti_1' }, { type: 'source', sourceId: 'dc_1' }],
  });
});

test('a read-only value sent back changed is refused, since it would change nothing', async () => {
  const { data } = (await (await server.call('/v1/workflows/p_1')).json()) as { data: Record<string, unknown> };
  const [http, ...triggers] = data['triggers'] as object[];
  const changed = { version: 2, triggers: [{ ...http, endpoint_url: 'https://own.example/' }, ...triggers] };
  const { errors } = (await (await send('PUT', '/v1/workflows/p_1', { ...data, ...changed })).json()) as {
    errors: object[];
  };
  expect(errors).toEqual([
    { path: 'version', message: 'is shown, and cannot be set' },
    { path: 'triggers.0.endpoint_url', message: 'is shown, and cannot be set' },
  ]);
  const made = await send('POST', '/v1/workflows', {
    triggers: [{ type: 'http', endpoint_url: 'https://a.example/' }],
  });
  expect(made.status).toBe(400);
});

test('a version is named where it is asked for or deployed, and lists are read page by page', async () => {
  await server.call('/v1/workflows/p_1?deployment_id=d_1');
  expect(asked()).toEqual(['p_1', 'd_1']);
  await send('POST', '/v1/workflows/p_1/deploy', { deployment_id: 'd_1' });
  expect(asked()).toEqual(['p_1', 'd_1']);
  expect((await send('POST', '/v1/workflows/p_1/deploy', {})).status).toBe(400);
  const versions = (await (await server.call('/v1/workflows/p_1/deployments?limit=3')).json()) as { data: unknown };
  expect(asked()).toEqual(['p_1', { limit: 3 }]);
  expect(versions.data).toEqual([{ id: 'd_1', version: 1, is_current: true, created_at: 1_795_176_000 }]);
  expect((await server.call('/v1/workflows/p_1', { method: 'DELETE' })).status).toBe(204);
});
