import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { ECHO, echo, makeWorkflow, PASS_ON, problemsOf } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const refuse = async (steps: unknown[]) => {
  const answer = await hw.api('POST', '/workflows', { steps });
  return { status: answer.status, problems: problemsOf(answer) };
};

/** Its second prop is there once the first is set. */
const DYNAMIC = `export default { name: 'Dynamic', version: '1', type: 'action',
  props: { kind: { type: 'string', reloadProps: true }, token: { type: 'string', secret: true, optional: true } },
  additionalProps() { return this.kind === undefined ? {} : { [this.kind]: { type: 'integer', label: String(this.token) } }; },
  run() { return this; } };`;

test.each([
  ['1st', 'no digit first'],
  ['a-b', 'letters, digits'],
  ['', 'letters, digits'],
  ['a b', 'letters, digits'],
  ['é', 'letters, digits'],
  ['a'.repeat(65), 'at most 64'],
  ['trigger', 'must not be trigger'],
  ['__proto__', 'must not be'],
  ['constructor', 'must not be'],
  ['prototype', 'must not be'],
])('the namespace %j is refused', async (namespace, why) => {
  const { status, problems } = await refuse([echo(namespace)]);
  expect(status).toBe(400);
  expect(problems['steps.0.namespace']).toContain(why);
});

test('namespaces are those of JavaScript names, and each is there once', async () => {
  const made = await makeWorkflow(hw, { steps: ['_', '$a', 'a1', 'hasOwnProperty'].map((name) => echo(name)) });
  expect(made.steps).toHaveLength(4);
  const { problems } = await refuse([echo('a'), echo('b'), echo('a')]);
  expect(problems).toEqual({ 'steps.2.namespace': 'a is the namespace of another step' });
});

test('a workflow has at most 100 steps and 50 triggers', async () => {
  const steps = Array.from({ length: 101 }, (_, i) => echo(`s${i}`));
  expect((await refuse(steps)).problems).toEqual({ steps: 'must be at most 100' });
  expect(JSON.parse((await hw.api('POST', '/workflows', { steps })).text)).toMatchObject({
    limit: { name: 'maxWorkflowSteps', value: 100, used: 101 },
  });
  expect((await makeWorkflow(hw, { steps: steps.slice(1) })).steps).toHaveLength(100);
  const triggers = Array.from({ length: 51 }, () => ({ type: 'http' }));
  expect(JSON.parse((await hw.api('POST', '/workflows', { triggers })).text)).toMatchObject({
    errors: [{ path: 'triggers' }],
    limit: { name: 'maxWorkflowTriggers', value: 50, used: 51 },
  });
});

test('a prop of a step that is too large is refused with the limit', async () => {
  const text = 'x'.repeat(65_537);
  const refused = await hw.api('POST', '/workflows', { steps: [echo('a', { text }), echo('b', { count: 0 })] });
  expect(Object.keys(problemsOf(refused))).toEqual(['steps.0.props.text', 'steps.1.props.count']);
  expect(JSON.parse(refused.text)).toMatchObject({ limit: { name: 'maxPropValueBytes', value: 65_536, used: 65_537 } });
});

test('a component is named by id, by key and version, or by code, and must be an action', async () => {
  const keyed = ECHO.replace("name: 'Echo'", "name: 'Echo', key: 'echo'");
  const one = (await hw.api('POST', '/components', { component_code: keyed })).data;
  const two = (await hw.api('POST', '/components', { component_code: keyed.replace("version: '1'", "version: '2'") }))
    .data;
  const { steps } = await makeWorkflow(hw, {
    steps: [
      { namespace: 'a', component_id: one.id },
      { namespace: 'b', component_key: 'echo' },
      { namespace: 'c', component_key: 'echo', component_version: '1' },
    ],
  });
  expect(steps.map((step: { component_id: string }) => step.component_id)).toEqual([one.id, two.id, one.id]);
  const source = await refuse([echo('a'), { namespace: 'b', component_code: PASS_ON }]);
  expect([source.status, source.problems['steps.1.component_id']]).toEqual([
    400,
    expect.stringMatching(/^Step b: sc_\w+ is a source; steps of workflows are actions$/),
  ]);
  expect((await refuse([{ namespace: 'a' }])).problems['steps.0.component_id']).toContain('Give component_id');
  expect((await refuse([{ namespace: 'a', component_key: 'nobody-has-this' }])).status).toBe(404);
  expect((await refuse([{ namespace: 'a', component_id: one.id, component_key: 'echo' }])).status).toBe(400);
});

test('code that cannot be used is refused with its step and line', async () => {
  const { status, problems } = await refuse([
    echo('a'),
    { namespace: 'b', component_code: 'export default {\n  name:' },
  ]);
  expect(status).toBe(400);
  expect(problems['steps.1.component_code']).toContain('Step b');
});

test('everything that is wrong with the props of all steps is named at once', async () => {
  const { status, problems } = await refuse([
    echo('a', { count: 0, list: 'x' }),
    echo('b', { data: [], text: '{{nope}}' }),
  ]);
  expect(status).toBe(400);
  expect(problems).toEqual({
    'steps.0.props.count': 'Step a: Must be at least 1',
    'steps.0.props.list': 'Step a: Expected an array of string, got a string',
    'steps.1.props.data': 'Step b: Expected an object, got an array',
    'steps.1.props.text': expect.stringContaining('nope is not known'),
  });
});

test('a value with an expression is taken for a prop of any type', async () => {
  const props = {
    count: '{{steps.trigger.event.n}}',
    list: '{{[1, 2].map(String)}}',
    data: { a: ['{{steps.trigger.event}}'] },
  };
  const { steps } = await makeWorkflow(hw, { steps: [echo('a', props)] });
  expect(steps[0].props).toEqual(props);
});

test('accounts of apps and data stores are named, not worked out, and must be the account’s', async () => {
  const code = `export default { name: 'Uses', version: '1', type: 'action', props: { store: 'data_store', app: { type: 'app', app: 'slack' } }, run() {} };`;
  const { problems } = await refuse([
    {
      namespace: 'a',
      component_code: code,
      props: { store: '{{steps.trigger.event.id}}', app: { authProvisionId: '{{env.X}}' } },
    },
    { namespace: 'b', component_code: code, props: { store: 'ds_nobody', app: { authProvisionId: 'apn_nobody' } } },
  ]);
  expect(problems).toEqual({
    'steps.0.props.store': 'Step a: Expected the id of a data store: "ds_…"',
    'steps.0.props.app': 'Step a: Expected { "authProvisionId": "apn_…" }',
    'steps.1.props.store': 'Step b: There is no data store ds_nobody in this account',
    'steps.1.props.app': 'Step b: There is no connected account apn_nobody in this account',
  });
});

test('an action has no $.service.db, and nothing comes of interfaces that it shares with a source', async () => {
  const code = `export default { name: 'Wrong', version: '1', type: 'action', props: { db: '$.service.db', http: '$.interface.http', timer: '$.interface.timer' }, run() {} };`;
  const { status, problems } = await refuse([{ namespace: 'a', component_code: code }]);
  expect(status).toBe(400);
  expect(Object.keys(problems)).toEqual(['steps.0.props.db']);
  expect(problems['steps.0.props.db']).toContain('data_store');
  const shared = code.replace("db: '$.service.db', ", '');
  const made = await makeWorkflow(hw, { steps: [{ namespace: 'a', component_code: shared }] });
  expect(made.steps[0].props).toEqual({});
});

test('a secret of a step is sealed, never shown, kept when it is not given again, and gone with the workflow', async () => {
  const made = await makeWorkflow(hw, { steps: [echo('a', { token: 'top-secret-value', text: 'x' })] });
  expect(made.steps[0].props).toEqual({ text: 'x' });
  const { data } = await hw.api('PUT', `/workflows/${made.id}`, { steps: [{ namespace: 'a', props: { text: 'y' } }] });
  expect(data.steps[0].props).toEqual({ text: 'y' });
  const rows = await hw.sql<{ steps: { configuredProps: { token?: { $sealed: string } } }[] }[]>`
    select steps from deployments where workflow_id = ${made.id} order by version`;
  expect(rows).toHaveLength(2);
  for (const { steps } of rows) expect(steps[0]?.configuredProps.token?.$sealed).toMatch(/^v2\./);
  expect(JSON.stringify(rows)).not.toContain('top-secret-value');
  const reserved = await refuse([echo('b', { token: rows[0]?.steps[0]?.configuredProps.token })]);
  expect(reserved.problems['steps.0.props.token']).toContain('reserved');
  await hw.api('DELETE', `/workflows/${made.id}`);
  expect(await hw.sql`select from deployments where workflow_id = ${made.id}`).toHaveLength(0);
});

test('additionalProps is asked at deployment with the props known then, and again when its inputs change', async () => {
  const made = await makeWorkflow(hw, {
    steps: [{ namespace: 'a', component_code: DYNAMIC, props: { kind: 'size', size: 3, token: 'abcdef-token' } }],
  });
  expect(made.steps[0].props).toEqual({ kind: 'size', size: 3 });
  expect(made.steps[0].configurable_props.map(({ name }: { name: string }) => name)).toEqual(['kind', 'token', 'size']);
  const kept = await hw.api('PUT', `/workflows/${made.id}`, { steps: [{ namespace: 'a', props: { size: 4 } }] });
  expect(kept.data.steps[0].props).toEqual({ kind: 'size', size: 4 });
  const wrong = await hw.api('PUT', `/workflows/${made.id}`, { steps: [{ namespace: 'a', props: { kind: 'width' } }] });
  expect(problemsOf(wrong)).toEqual({ 'steps.0.props.width': 'Step a: A value is required' });
  const other = await hw.api('PUT', `/workflows/${made.id}`, {
    steps: [{ namespace: 'a', props: { kind: 'width', width: '{{steps.trigger.event.w}}' } }],
  });
  expect(other.data.steps[0].props).toEqual({ kind: 'width', width: '{{steps.trigger.event.w}}' });
  const unknown = await hw.api('PUT', `/workflows/${made.id}`, {
    steps: [{ namespace: 'a', props: { kind: '{{steps.trigger.event.kind}}', width: null } }],
  });
  expect([unknown.status, unknown.data?.steps[0].configurable_props.length]).toEqual([200, 2]);
});

test('the code of a step may be nothing but a run, and is then an action that is called as the step', async () => {
  const code = 'export default defineComponent({ async run({ steps, $ }) { return steps.trigger.event; } });';
  const made = await makeWorkflow(hw, { steps: [{ namespace: 'shape', component_code: code }] });
  const { data } = await hw.api('GET', `/components/${made.steps[0].component_id}`);
  expect(data).toMatchObject({ name: 'shape', version: '0.0.1', type: 'action' });
  expect((await hw.api('POST', '/components', { component_code: code })).status).toBe(400);
  const hooks = await refuse([
    { namespace: 'a', component_code: 'export default { hooks: { deploy() {} }, run() {} };' },
  ]);
  expect(hooks.problems['steps.0.hooks']).toContain('an action has no lifecycle hooks');
});
