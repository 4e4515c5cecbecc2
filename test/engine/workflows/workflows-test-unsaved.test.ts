import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUnsavedComponents } from '../../../engine/src/components/unsaved-components.ts';
import type { NewComponent } from '../../../engine/src/components/components.sql.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertAccount } from '../../support/source-rows.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';
import { echo, makeWorkflow, problemsOf } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw?.stop());

const code = (namespace: string, body: string, props?: Record<string, unknown>) => ({
  namespace,
  component_code: action(body, 'text: { type: "any", optional: true }'),
  ...(props === undefined ? {} : { props }),
});
const run = (id: string, parameters: Record<string, unknown>) => hw.api('POST', `/workflows/${id}/test`, parameters);

/** Everything that a test must not add to. */
const stored = () => hw.sql`
  select (select count(*) from components) as components, (select count(*) from deployments) as versions,
    (select count(*) from executions) as executions, (select count(*) from invocations) as invocations,
    (select count(*) from execution_steps) as steps, (select count(*) from events) as events,
    (select count(*) from dynamic_props) as dynamic`;

async function leavesNothing<T>(work: () => Promise<T>): Promise<T> {
  const before = await stored();
  const result = await work();
  expect(await stored()).toEqual(before);
  return result;
}

test('steps with given code run together with those that stay, and nothing of them is saved', async () => {
  const secret = { ...echo('kept', { text: 'as it was', token: 'a-secret-of-the-step' }) };
  const flow = await makeWorkflow(hw, { steps: [secret, code('gone', 'return "saved";')] });
  const steps = [
    { namespace: 'kept' },
    code('fresh', '$.send.emit(1); return [this.text, $.context.JIT, steps.trigger.event.n];', {
      text: '{{steps.kept.$return_value.text}}',
    }),
  ];
  const { status, data } = await leavesNothing(() => run(flow.id, { steps, event: { n: 3 } }));
  expect(status).toBe(200);
  expect(data).toMatchObject({
    deployment_id: flow.deployment_id,
    status: 'succeeded',
    steps: [
      { namespace: 'kept', $return_value: { text: 'as it was' } },
      { namespace: 'fresh', $return_value: ['as it was', true, 3], sends: [{ kind: 'emit' }] },
    ],
  });
  expect((await hw.api('GET', `/workflows/${flow.id}`)).data).toEqual(flow);
});

test('one new step runs on the completed steps of a past execution', async () => {
  const receiver = await startReceiver();
  const first = code('first', `await fetch("${receiver.url}"); return { at: "then" };`);
  const flow = await makeWorkflow(hw, { triggers: [{ type: 'http' }], steps: [first] });
  await post(flow.triggers[0].endpoint_url as string, {});
  const [execution] = await untilExecutions(hw.sql, flow.id, 1);
  const steps = [{ namespace: 'first' }, code('second', 'return steps.first.$return_value.at;')];
  const asked = { steps, step: 'second', event_id: execution?.id };
  const { data } = await leavesNothing(() => run(flow.id, asked));
  expect(data.steps).toMatchObject([{ namespace: 'second', $return_value: 'then' }]);
  expect(receiver.requests).toHaveLength(1);
  await receiver.stop();
});

test('a component of the registry runs without becoming the account’s', async () => {
  const receiver = await startReceiver();
  const flow = await makeWorkflow(hw, {});
  const props = { method: 'GET', url: `${receiver.url}/asked` };
  const steps = [{ namespace: 'ask', component_key: 'http-send-request', props }];
  const { data } = await leavesNothing(() => run(flow.id, { steps }));
  expect(data).toMatchObject({ status: 'succeeded', steps: [{ namespace: 'ask' }] });
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/asked']);
  await receiver.stop();
});

test('code that computes its own props is asked for them', async () => {
  const flow = await makeWorkflow(hw, {});
  const computing = `export default { name: 'C', version: '1', type: 'action',
    props: { kind: { type: 'string', reloadProps: true } },
    additionalProps() { return { [this.kind]: { type: 'string', secret: true } }; },
    run() { return [this.kind, this.extra]; } };`;
  const steps = [{ namespace: 'c', component_code: computing, props: { kind: 'extra', extra: 'a value of it' } }];
  const { data } = await leavesNothing(() => run(flow.id, { steps }));
  expect(data).toMatchObject({ status: 'succeeded', steps: [{ $return_value: ['extra', '[secret:extra]'] }] });
});

test('it is refused as an update with it would be, with the place', async () => {
  const flow = await makeWorkflow(hw, { steps: [echo('a')] });
  const foreign = await insertWorkflow(hw.sql, {
    accountId: await insertAccount(hw.sql),
    steps: [{ namespace: 'a', code: action('return "theirs";') }],
  });
  const [theirs] = await hw.sql<{ id: string }[]>`
    select steps #>> '{0,componentId}' as id from deployments where id = ${foreign.deploymentId}`;
  for (const [step, status, path] of [
    [{ namespace: 'b', component_code: 'export default {' }, 400, 'steps.1.component_code'],
    [code('b', '', { text: '{{steps.later.x}}' }), 400, 'steps.1.props.text'],
    [code('b', '', { text: ['{{env.NOWHERE}}'] }), 400, 'steps.1.props.text.0'],
    [code('a', ''), 400, 'steps.1.namespace'],
    [{ namespace: 'b', component_id: theirs?.id }, 404, 'steps.1'],
    [{ namespace: 'b' }, 400, 'steps.1.component_id'],
    [{ id: 'c_none', ...code('b', '') }, 400, 'steps.1.id'],
  ] as const) {
    const answer = await leavesNothing(() => run(flow.id, { steps: [{ namespace: 'a' }, step] }));
    expect([step, answer.status, Object.keys(problemsOf(answer))]).toEqual([step, status, [path]]);
    const update = await hw.api('PUT', `/workflows/${flow.id}`, { steps: [{ namespace: 'a' }, step] });
    expect([update.status, problemsOf(update)]).toEqual([answer.status, problemsOf(answer)]);
  }
});

test('unsaved code with its packages is held up to a bound', async () => {
  const bundle = { code: 'x'.repeat(LIMITS.maxUnsavedBundleBytes / 2), sourceMap: '', hash: 'h' };
  const components = createUnsavedComponents({
    components: {
      prepare: async () => ({ id: newId('savedComponent'), props: [], bundle }) as unknown as NewComponent,
      find: () => Promise.reject(new Error('Nothing is looked for')),
    },
    readBundle: async () => undefined,
  });
  const who = { accountId: 'o_1', userId: 'u_1' };
  const save = () => components.save(who, { componentCode: '' }, { of: 'step', name: 'step' });
  for (const { id } of [await save(), await save()]) expect((await components.readBundle(id))?.hash).toBe('h');
  await expect(save()).rejects.toMatchObject({ code: 'INVALID_COMPONENT', fields: [{ path: 'component_code' }] });
});

test('it has the bounds of a saved one', async () => {
  const flow = await makeWorkflow(hw, { settings: { timeout_seconds: 1 } });
  const endless = await run(flow.id, { steps: [code('a', 'await new Promise(() => setInterval(() => {}, 10));')] });
  expect(endless.data.steps[0].error).toMatchObject({ code: 'WALL_LIMIT', message: expect.stringContaining('of 1') });
  const large = await run(flow.id, { steps: [code('a', 'return "x".repeat(7_000_000);')] });
  expect(large.data.steps[0].error).toMatchObject({ limit: { name: 'maxResultBytes' } });
  const inner = await run(flow.id, { steps: [code('a', 'await fetch("http://169.254.169.254/");')] });
  expect(inner.data.steps[0].status).toBe('failed');
});
