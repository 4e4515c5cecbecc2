import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { makeWorkflow, problemsOf } from '../../support/workflow-steps.ts';

let hw: Headwater;

beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const ADD = `export default { name: 'Add', version: '1', type: 'action', props: { a: 'integer', b: 'integer' },
  run({ $ }) { $.export('sum', this.a + this.b); return $.context.workflow_id; } };`;
const add = (namespace: string, a: unknown, b: unknown) => ({ namespace, component_code: ADD, props: { a, b } });

test('a workflow that is not saved is tried out, and nothing of it is there afterwards', async () => {
  const steps = [add('one', '{{steps.trigger.event.n}}', 2), add('two', '{{steps.one.sum}}', 3)];
  const { data, status } = await hw.api('POST', '/workflow_tests', { steps, event: { n: 5 } });
  expect(status).toBe(200);
  expect(data).toMatchObject({ status: 'succeeded', deployment_id: null });
  expect(data.steps.map((step: { exports: unknown }) => step.exports)).toEqual([{ sum: 7 }, { sum: 10 }]);
  expect(data.steps[1].props).toEqual({ a: 7, b: 3 });
  expect((await hw.api('GET', '/users/me/workflows')).data).toEqual([]);
  expect((await hw.api('GET', '/components')).data).toEqual([]);
  const refused = await hw.api('POST', '/workflow_tests', { steps: [add('one', 'x', 2)] });
  expect(Object.keys(problemsOf(refused))).toEqual(['steps.0.props.a']);
});

test('a step finds the given values of the steps before it, over those of the execution', async () => {
  const workflow = await makeWorkflow(hw, {
    steps: [
      add('one', 1, 1),
      add('two', '{{steps.one.sum}}', 0),
      add('three', '{{steps.one.sum}}', '{{steps.two.sum}}'),
    ],
  });
  const { data: started } = await hw.api('POST', `/workflows/${workflow.id}/run`, {});
  await expect
    .poll(async () => (await hw.api('GET', `/executions/${started.execution_id}`)).data.status)
    .toBe('succeeded');
  const given = { step: 'three', event_id: started.execution_id, exports: { one: { sum: 40 } } };
  const { data } = await hw.api('POST', `/workflows/${workflow.id}/test`, given);
  expect(data.steps[0]).toMatchObject({ props: { a: 40, b: 2 }, exports: { sum: 42 } });
  const { data: alone } = await hw.api('POST', `/workflows/${workflow.id}/test`, {
    step: 'two',
    exports: { one: { sum: 9 }, two: { sum: 1 } },
  });
  expect(alone.steps[0]).toMatchObject({ props: { a: 9, b: 0 } });
});
