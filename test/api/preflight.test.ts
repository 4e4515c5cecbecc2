import { afterAll, beforeAll, expect, test } from 'vitest';
import { action, untilExecutions } from '../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../support/headwater.ts';
import { makeWorkflow } from '../support/workflow-steps.ts';

let node: Headwater;
beforeAll(async () => {
  node = await sharedHeadwater();
});
afterAll(() => node.stop());

const ASKS = {
  origin: 'https://page.example',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'x-a, content-type',
};

const options = (url: string, headers: Record<string, string> = ASKS) => fetch(url, { method: 'OPTIONS', headers });

const source = (http: string) => `export default { name: 'S', version: '1', props: { http: ${http} },
  run(event) { this.$emit(event.method); this.http.respond?.({ status: 299 }); } };`;
const PLAIN = source(`'$.interface.http'`);
const ANSWERS = source(`{ type: '$.interface.http', customResponse: true }`);

test.each([
  ['a source', PLAIN],
  ['a source that answers itself', ANSWERS],
])('a preflight to %s is answered, and nothing runs', async (_, code) => {
  const { id, endpoint } = await node.deploy(code);
  const answer = await options(`${endpoint}/any/path`);
  expect([answer.status, await answer.text()]).toEqual([204, '']);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD, PUT, PATCH, POST, DELETE',
    'access-control-allow-headers': 'x-a, content-type',
  });
  const purge = await options(endpoint, { ...ASKS, 'access-control-request-method': 'PURGE' });
  expect(purge.headers.get('access-control-allow-methods')).toContain('PURGE');
  // Earlier requests are committed first: the only event is that of the last request.
  await fetch(endpoint, { method: 'POST' });
  expect((await node.untilEvents(id, 1)).map(({ event }) => event)).toEqual(['POST']);
});

test('a plain OPTIONS request, one with a body, and HEAD run as any other', async () => {
  const { id, endpoint } = await node.deploy(PLAIN);
  expect((await options(endpoint, {})).status).toBe(200);
  expect((await fetch(endpoint, { method: 'OPTIONS', headers: ASKS, body: 'x' })).status).toBe(200);
  expect((await fetch(endpoint, { method: 'HEAD' })).status).toBe(200);
  const events = await node.untilEvents(id, 3);
  expect(events.map(({ event }) => event)).toEqual(['OPTIONS', 'OPTIONS', 'HEAD']);
});

test('the setting of a source hands preflights to its code, and holds until it is changed', async () => {
  const made = await node.api('POST', '/sources', { component_code: ANSWERS, preflight: 'run' });
  const { id, configured_props: props } = made.data;
  const url = props.http.endpoint_url;
  expect([made.data.preflight, (await options(url)).status]).toEqual(['run', 299]);
  const put = async (change: object) => (await node.api('PUT', `/sources/${id}`, { ...change })).data.preflight;
  expect(await put({ component_code: ANSWERS.replace("'1'", "'2'"), name: 'Other' })).toBe('run');
  expect((await options(url)).status).toBe(299);
  expect(await put({ preflight: 'allow' })).toBe('allow');
  expect((await options(url)).status).toBe(204);
  expect((await node.api('PUT', `/sources/${id}`, { preflight: 'maybe' })).status).toBe(400);
  // The change of a setting alone runs no hooks, and the two preflights were all that ran.
  expect((await node.untilEvents(id, 2)).map(({ event }) => event)).toEqual(['OPTIONS', 'OPTIONS']);
});

test('a workflow has the same setting', async () => {
  const steps = [{ namespace: 'a', component_code: action('return steps.trigger.event.method;') }];
  const flow = await makeWorkflow(node, { triggers: [{ type: 'http' }], steps });
  const url = flow.triggers[0].endpoint_url;
  expect(flow.settings.preflight).toBe('allow');
  expect((await options(url)).status).toBe(204);
  const put = async (preflight: string | null) =>
    (await node.api('PUT', `/workflows/${flow.id}`, { settings: { preflight } })).data.settings.preflight;
  expect(await put('run')).toBe('run');
  expect((await options(url)).status).toBe(200);
  const executions = await untilExecutions(node.sql, flow.id, 1);
  expect(executions.map(({ steps: [step] }) => step?.value)).toEqual(['OPTIONS']);
  expect(await put(null)).toBe('allow');
  expect((await options(url)).status).toBe(204);
});

test('a preflight to an endpoint that is not there is refused', async () => {
  const { id, endpoint } = await node.deploy(PLAIN);
  await node.api('PUT', `/sources/${id}`, { active: false });
  expect([(await options(endpoint)).status, (await options(`${node.url}/e/none`)).status]).toEqual([404, 404]);
});
