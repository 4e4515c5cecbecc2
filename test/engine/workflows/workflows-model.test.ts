import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { ECHO, echo, makeWorkflow, problemsOf } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const get = async (id: string, parameters = {}) => (await hw.api('GET', `/workflows/${id}`, parameters)).data;

test('a workflow is made with its first version, and each read and list has it', async () => {
  const made = await makeWorkflow(hw, {
    name: 'Orders in',
    triggers: [{ type: 'http' }, { type: 'timer', interval_seconds: 3600 }],
    steps: [
      echo('first', { text: '{{steps.trigger.event.body}}' }),
      echo('second', { text: '{{steps.first.$return_value}}' }),
    ],
    settings: { timeout_seconds: 30, concurrency: 2, throttle: { limit: 5, interval_seconds: 60 } },
  });
  expect(made).toMatchObject({
    name: 'Orders in',
    name_slug: 'orders-in',
    active: true,
    version: 1,
    triggers: [
      { type: 'http', custom_response: false },
      { type: 'timer', interval_seconds: 3600 },
    ],
    steps: [{ namespace: 'first', props: { text: '{{steps.trigger.event.body}}' } }, { namespace: 'second' }],
    settings: {
      auto_deploy: true,
      timeout_seconds: 30,
      memory_mb: 128,
      concurrency: 2,
      throttle: { limit: 5, interval_seconds: 60 },
      queue_limit: null,
      retries: 0,
    },
  });
  expect(made.id).toMatch(/^p_/);
  expect(made.deployment_id).toMatch(/^d_/);
  expect(made.latest_deployment_id).toBe(made.deployment_id);
  expect(made.triggers[0].id).toMatch(/^hi_/);
  expect(made.triggers[0].endpoint_url).toContain('/e/');
  expect(made.triggers[1].id).toMatch(/^ti_/);
  expect(made.steps[0].id).toMatch(/^c_/);
  // The same code twice is one component.
  expect(made.steps[0].component_id).toBe(made.steps[1].component_id);
  expect(await get(made.id)).toEqual(made);
  for (const place of [
    '/workflows',
    '/users/me/workflows',
    `/workspaces/${hw.accountId}/workflows`,
    `/orgs/${hw.accountId}/workflows`,
  ]) {
    const listed = (await hw.api('GET', place)).data.find((one: { id: string }) => one.id === made.id);
    const { steps: _, ...summary } = made;
    expect(listed).toEqual(summary);
  }
});

test('nothing but a request is needed, and names get numbered slugs of their own', async () => {
  const [first, second] = [await makeWorkflow(hw), await makeWorkflow(hw)];
  expect(first).toMatchObject({ name: 'Workflow', name_slug: 'workflow', triggers: [], steps: [] });
  expect(second).toMatchObject({ name: 'Workflow', name_slug: 'workflow-1' });
  const source = await hw.api('POST', '/sources', {
    name: 'Workflow',
    component_code: `export default { name: 'S', version: '1', run() {} };`,
  });
  expect(source.data.name_slug).toBe('workflow');
});

test('an answer can be sent back, and changes only the version', async () => {
  const made = await makeWorkflow(hw, {
    triggers: [
      { type: 'http', custom_response: true },
      { cron: '0 9 * * 1', timezone: 'Europe/Paris' },
    ],
    steps: [echo('first', { text: 'a', token: 'secret-token-1' })],
  });
  const answer = await hw.api('PUT', `/workflows/${made.id}`, made);
  expect(answer.status).toBe(200);
  const { deployment_id: _, latest_deployment_id: _latest, version, updated_at: _at, ...after } = answer.data;
  expect(made).toMatchObject(after);
  expect(version).toBe(2);
  const [row] =
    await hw.sql`select steps -> 0 -> 'configuredProps' ->> 'token' as token from deployments where workflow_id = ${made.id} and version = 2`;
  expect(row?.['token']).toContain('$sealed');
});

test('a step keeps its id by its id or its namespace, and keeps props that are not given', async () => {
  const made = await makeWorkflow(hw, { steps: [echo('a', { text: 'x', count: 2 }), echo('b')] });
  const [a, b] = made.steps;
  const { data } = await hw.api('PUT', `/workflows/${made.id}`, {
    steps: [
      echo('c'),
      { namespace: 'renamed', id: b.id, props: { text: 'y' } },
      { namespace: 'a', props: { text: null } },
    ],
  });
  expect(data.steps[0].id).not.toBe(a.id);
  expect(data.steps[1]).toMatchObject({
    id: b.id,
    namespace: 'renamed',
    component_id: b.component_id,
    props: { text: 'y' },
  });
  expect(data.steps[2]).toMatchObject({ id: a.id, component_id: a.component_id, props: { count: 2 } });
  expect(data.steps[2].props).not.toHaveProperty('text');
});

test('a version that is not deployed runs nothing, is seen by its id, and is the base of the next one', async () => {
  const made = await makeWorkflow(hw, { steps: [echo('a', { text: 'v1' })], settings: { auto_deploy: false } });
  const saved = (await hw.api('PUT', `/workflows/${made.id}`, { steps: [echo('a', { text: 'v2' })] })).data;
  expect(saved).toMatchObject({ deployment_id: made.deployment_id, version: 1, steps: [{ props: { text: 'v1' } }] });
  const draft = await get(made.id, { deployment_id: saved.latest_deployment_id });
  expect(draft).toMatchObject({ version: 2, steps: [{ props: { text: 'v2' } }] });
  const third = (await hw.api('PUT', `/workflows/${made.id}`, { triggers: [{ type: 'http' }] })).data;
  expect(third.triggers).toEqual([]);
  const waiting = await get(made.id, { deployment_id: third.latest_deployment_id });
  expect(waiting).toMatchObject({ version: 3, steps: [{ props: { text: 'v2' } }], triggers: [{ endpoint_url: null }] });
  const deployed = await hw.api('POST', `/workflows/${made.id}/deploy`, { deployment_id: third.latest_deployment_id });
  expect(deployed.data).toMatchObject({ version: 3, steps: [{ props: { text: 'v2' } }] });
  expect(deployed.data.triggers[0].endpoint_url).toContain('/e/');
  const { data: versions } = await hw.api('GET', `/workflows/${made.id}/deployments`);
  expect(versions.map((one: { version: number; is_current: boolean }) => [one.version, one.is_current])).toEqual([
    [3, true],
    [2, false],
    [1, false],
  ]);
  const back = await hw.api('POST', `/workflows/${made.id}/deploy`, { deployment_id: made.deployment_id });
  expect(back.data).toMatchObject({ version: 1, triggers: [], steps: [{ props: { text: 'v1' } }] });
});

test('after an older version was deployed again, the next one is made from it', async () => {
  const made = await makeWorkflow(hw, { steps: [echo('a', { text: 'v1' })] });
  await hw.api('PUT', `/workflows/${made.id}`, { steps: [echo('a', { text: 'v2' })] });
  await hw.api('POST', `/workflows/${made.id}/deploy`, { deployment_id: made.deployment_id });
  const { data } = await hw.api('PUT', `/workflows/${made.id}`, { settings: { retries: 1 } });
  expect(data).toMatchObject({ version: 3, steps: [{ props: { text: 'v1' } }] });
});

test('a name or a stop makes no version', async () => {
  const made = await makeWorkflow(hw, { name: 'Before' });
  const { data } = await hw.api('PUT', `/workflows/${made.id}`, { name: 'After', active: false });
  expect(data).toMatchObject({ name: 'After', name_slug: 'after', active: false, version: 1 });
});

test('a stopped workflow has no endpoint and no timer, takes no run by hand, and has them when it is started again', async () => {
  const made = await makeWorkflow(hw, { triggers: [{ type: 'http' }, { type: 'timer', interval_seconds: 3600 }] });
  const url = made.triggers[0].endpoint_url as string;
  const timers = () => hw.sql`select prop_name from timers where source_id = ${made.id}`;
  expect(await timers()).toEqual([{ prop_name: made.triggers[1].id }]);
  await hw.api('PUT', `/workflows/${made.id}`, { active: false });
  expect((await fetch(url)).status).toBe(404);
  expect(await timers()).toEqual([]);
  expect((await hw.api('POST', `/workflows/${made.id}/run`, { event: {} })).status).toBe(409);
  await hw.api('PUT', `/workflows/${made.id}`, { active: true });
  expect((await fetch(url)).status).toBe(200);
  expect(await timers()).toHaveLength(1);
});

test('each of several concurrent changes is whole, or refused with 409', async () => {
  const made = await makeWorkflow(hw, { steps: [echo('a')] });
  const change = (text: string) =>
    hw.api('PUT', `/workflows/${made.id}`, { steps: [echo('a', { text })], triggers: [{ type: 'http' }] });
  const answers = await Promise.all(['one', 'two', 'three'].map(change));
  const won = answers.filter(({ status }) => status === 200);
  expect(won.length).toBeGreaterThan(0);
  for (const { status } of answers) expect([200, 409]).toContain(status);
  const now = await get(made.id);
  expect(now.version).toBe(1 + won.length);
  expect(won.map(({ data }) => data.deployment_id)).toContain(now.deployment_id);
});

test('settings that are wrong are all named, and null takes one back', async () => {
  const settings = {
    timeout_seconds: 751,
    memory_mb: 4096,
    concurrency: 0,
    throttle: { limit: -1, interval_seconds: 0 },
    queue_limit: 0.5,
    retries: 11,
  };
  const refused = await hw.api('POST', '/workflows', { settings });
  expect(refused.status).toBe(400);
  expect(Object.keys(problemsOf(refused))).toEqual([
    'settings.timeout_seconds',
    'settings.memory_mb',
    'settings.concurrency',
    'settings.throttle.limit',
    'settings.throttle.interval_seconds',
    'settings.queue_limit',
    'settings.retries',
  ]);
  const made = await makeWorkflow(hw, { settings: { concurrency: 1 } });
  const inTurn = async () => (await hw.sql`select in_turn from emitters where id = ${made.id}`)[0]?.['in_turn'];
  expect(await inTurn()).toBe(true);
  const { data } = await hw.api('PUT', `/workflows/${made.id}`, { settings: { concurrency: null } });
  expect(data.settings.concurrency).toBeNull();
  expect(await inTurn()).toBe(false);
});

test('a run by hand is stored as an execution with its event', async () => {
  const made = await makeWorkflow(hw, { settings: { throttle: { limit: 0, interval_seconds: 60 } } });
  const { data } = await hw.api('POST', `/workflows/${made.id}/run`, { event: { a: 1 } });
  expect(data.execution_id).toMatch(/^exec_/);
  const rows = await hw.sql`select kind, event from invocations where id = ${data.execution_id as string}`;
  expect(rows).toEqual([{ kind: 'manual', event: '{"a":1}' }]);
});

test('a deleted workflow leaves no endpoint, timer, subscription, version or waiting execution', async () => {
  const source = await hw.deploy(`export default { name: 'S', version: '1', run() {} };`);
  const made = await makeWorkflow(hw, {
    triggers: [{ type: 'http' }, { type: 'timer', interval_seconds: 3600 }, { source_id: source.id }],
    steps: [echo('a', { token: 'secret-token-2' })],
    settings: { throttle: { limit: 0, interval_seconds: 60 } },
  });
  await hw.api('POST', `/workflows/${made.id}/run`, {});
  expect((await hw.api('DELETE', `/workflows/${made.id}`)).status).toBe(204);
  expect((await hw.api('GET', `/workflows/${made.id}`)).status).toBe(404);
  expect((await hw.api('DELETE', `/workflows/${made.id}`)).status).toBe(404);
  expect((await fetch(made.triggers[0].endpoint_url as string)).status).toBe(404);
  const [left] = await hw.sql`
    select (select count(*) from endpoints where source_id = ${made.id}) as endpoints,
      (select count(*) from timers where source_id = ${made.id}) as timers,
      (select count(*) from subscriptions where listener_id = ${made.id}) as subscriptions,
      (select count(*) from deployments where workflow_id = ${made.id}) as deployments,
      (select count(*) from invocations where source_id = ${made.id}) as invocations`;
  expect(left).toEqual({ endpoints: 0, timers: 0, subscriptions: 0, deployments: 0, invocations: 0 });
  expect((await hw.api('GET', `/sources/${source.id}`)).status).toBe(200);
});

test('the use of the account counts workflows', async () => {
  const used = async () => (await hw.api('GET', '/users/me')).data.quotas.workflows.used as number;
  const before = await used();
  const made = await makeWorkflow(hw);
  expect(await used()).toBe(before + 1);
  await hw.api('DELETE', `/workflows/${made.id}`);
  expect(await used()).toBe(before);
});

test('a component that a version names is not deleted', async () => {
  const { data: component } = await hw.api('POST', '/components', { component_code: ECHO });
  const componentId = component.id as string;
  const made = await makeWorkflow(hw, { steps: [{ namespace: 'a', component_id: componentId }] });
  await hw.api('PUT', `/workflows/${made.id}`, { steps: [] });
  const refused = await hw.api('DELETE', `/components/${componentId}`);
  expect(refused.status).toBe(409);
  expect(refused.text).toContain('a workflow uses it');
  await hw.api('DELETE', `/workflows/${made.id}`);
  expect((await hw.api('DELETE', `/components/${componentId}`)).status).toBe(204);
});
