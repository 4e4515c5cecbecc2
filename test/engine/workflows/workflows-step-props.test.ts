import { LIMITS } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { makeWorkflow, type Workflow } from '../../support/workflow-steps.ts';

let hw: Headwater;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const CALL = `export default { name: 'Call', version: '1', type: 'action',
  props: { url: 'string', body: { type: 'object', optional: true }, times: { type: 'integer', optional: true },
    token: { type: 'string', secret: true, optional: true }, header: { type: 'string', optional: true },
    store: { type: 'data_store', optional: true } },
  run() { if (this.url === 'https://closed.test/') throw new Error('closed'); return this.times; } };`;

const call = (namespace: string, props: Record<string, unknown>) => ({ namespace, component_code: CALL, props });

async function run(workflow: Workflow, event: unknown): Promise<Workflow> {
  const { data } = await hw.api('POST', `/workflows/${workflow.id}/run`, { event });
  return ended(data.execution_id);
}

async function ended(id: string): Promise<Workflow> {
  let execution: Workflow;
  await expect
    .poll(async () => {
      execution = (await hw.api('GET', `/executions/${id}`)).data;
      return execution.status;
    })
    .toMatch(/succeeded|failed/);
  return execution;
}

test('an execution shows the props of each step as the component got them, and no secret', async () => {
  await hw.api('PUT', '/environment_variables/SHOP_TOKEN', { value: 'shop-token-of-the-tests' });
  const { data: store } = await hw.api('POST', '/data_stores', { name: 'Seen' });
  const workflow = await makeWorkflow(hw, {
    steps: [
      call('first', {
        url: 'https://shop.test/{{steps.trigger.event.id}}',
        times: '{{steps.trigger.event.times}}',
        body: { from: '{{steps.trigger.event.name}}', fixed: true },
        token: 'a-secret-of-the-step',
        header: 'Bearer {{env.SHOP_TOKEN}}',
        store: store.id,
      }),
      { namespace: 'bare', component_code: `export default { run() {} };` },
    ],
  });
  const { steps, trace_id: traceId } = await run(workflow, { id: 7, times: '3', name: 'Ada' });
  expect(steps.first.props).toEqual({
    url: 'https://shop.test/7',
    times: 3,
    body: { from: 'Ada', fixed: true },
    token: '[secret:token]',
    header: 'Bearer [secret:env.SHOP_TOKEN]',
    store: store.id,
  });
  expect(steps.first).not.toHaveProperty('truncated');
  expect(steps.bare).not.toHaveProperty('props');
  const { data: trace } = await hw.api('GET', `/traces/${traceId}`);
  expect(trace.runs[0].steps.map(({ props }: { props: unknown }) => props)).toEqual([steps.first.props, null]);
});

test('the beginning of a long value is recorded, and the answer names the cut values', async () => {
  const workflow = await makeWorkflow(hw, {
    steps: [
      call('first', {
        url: 'u',
        body: '{{steps.trigger.event}}',
        header: '{{steps.trigger.event.deep}}',
        times: '{{7}}',
      }),
    ],
  });
  const deep = '\u00e9'.repeat(LIMITS.recordedPropsChars);
  const { steps } = await run(workflow, { deep });
  const { props, truncated } = steps.first;
  expect(props).toEqual({
    url: 'u',
    body: JSON.stringify({ deep }).slice(0, 1_024),
    header: JSON.stringify(deep).slice(0, 1_024),
    times: 7,
  });
  expect(truncated).toEqual(['props.body', 'props.header']);
});

test('a step that fails shows its inputs, and a replay keeps the inputs of the steps before it', async () => {
  const workflow = await makeWorkflow(hw, {
    steps: [
      call('first', { url: 'https://open.test/', times: '{{steps.trigger.event.times}}' }),
      call('second', { url: '{{steps.trigger.event.url}}' }),
      call('third', { url: '{{steps.first.nothing}}' }),
    ],
  });
  const failed = await run(workflow, { url: 'https://closed.test/', times: 2 });
  expect(failed.steps.second).toMatchObject({ status: 'failed', props: { url: 'https://closed.test/' } });
  const { data } = await hw.api('POST', `/executions/${failed.id}/replay`, { from: 'failed' });
  const again = await ended(data.execution_id);
  expect(again.steps.first.props).toEqual({ url: 'https://open.test/', times: 2 });
  const { data: list } = await hw.api('GET', `/workflows/${workflow.id}/executions`);
  expect(list[0].steps.first).not.toHaveProperty('props');
  // An expression that failed came to nothing.
  const missing = await run(workflow, { url: 'https://open.test/', times: 2 });
  expect(missing.steps.third).toMatchObject({ status: 'failed', error: { code: 'CONFIGURATION_ERROR' } });
  expect(missing.steps.third).not.toHaveProperty('props');
});

test('a test of steps shows the same', async () => {
  const workflow = await makeWorkflow(hw, {
    steps: [call('first', { url: '{{steps.trigger.event.url}}', token: 'hush-hush' })],
  });
  const { data } = await hw.api('POST', `/workflows/${workflow.id}/test`, { event: { url: 'https://shop.test/' } });
  expect(data.steps[0].props).toEqual({ url: 'https://shop.test/', token: '[secret:token]' });
});
