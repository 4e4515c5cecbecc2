import { afterAll, beforeAll, expect, test } from 'vitest';
import { action, untilExecutions } from '../../support/executions.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { ECHO, echo, makeWorkflow } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const update = async (id: string, change: Record<string, unknown>) => {
  const answer = await hw.api('PUT', `/workflows/${id}`, change);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.data;
};

test('a workflow that was made by the API runs its steps with the props that were given', async () => {
  await hw.api('PUT', '/environment_variables/GREETING', { value: 'Good morning' });
  const made = await makeWorkflow(hw, {
    triggers: [{ type: 'http' }],
    steps: [
      { namespace: 'pick', component_code: action('return { list: steps.trigger.event.body.list, n: 2 };') },
      echo('shape', {
        text: '{{env.GREETING}}, {{steps.trigger.event.body.name}}',
        count: '{{steps.pick.$return_value.n}}',
        list: '{{steps.pick.$return_value.list.map((one) => one.toUpperCase())}}',
        data: { deep: ['{{steps.pick.$return_value}}'], plain: 1 },
      }),
    ],
  });
  expect((await post(made.triggers[0].endpoint_url, { name: 'Ada', list: ['a', 'b'] })).status).toBe(200);
  const [execution] = await untilExecutions(hw.sql, made.id, 1);
  expect(execution).toMatchObject({ status: 'succeeded', deploymentId: made.deployment_id });
  expect(execution?.steps[1]?.value).toMatchObject({
    count: 2,
    list: ['A', 'B'],
    data: { deep: [{ list: ['a', 'b'], n: 2 }], plain: 1 },
  });
  expect(execution?.steps[1]?.value).toMatchObject({ text: expect.stringMatching(/, Ada$/) });
});

test('the value of a variable reaches the step and nothing that is kept of it', async () => {
  const value = 'variable-value-for-steps';
  await hw.api('PUT', '/environment_variables/FOR_STEPS', { value });
  const code = `export default { props: { key: { type: 'string', secret: true }, open: 'string' },
    run({ $ }) { console.log(this.key); $.export('key', this.open);
      return { length: this.key.length, same: this.key === this.open, open: this.open }; } };`;
  const made = await makeWorkflow(hw, {
    steps: [{ namespace: 'a', component_code: code, props: { key: '{{env.FOR_STEPS}}', open: '{{env.FOR_STEPS}}' } }],
  });
  await hw.api('POST', `/workflows/${made.id}/run`, {});
  const [execution] = await untilExecutions(hw.sql, made.id, 1);
  expect(execution?.steps[0]?.value).toMatchObject({ length: value.length, same: true });
  const stored =
    await hw.sql`select * from execution_steps s join executions e on e.id = s.execution_id where e.workflow_id = ${made.id}`;
  expect(stored).toHaveLength(1);
  expect(JSON.stringify(stored)).not.toContain(value);
  // Without another deployment the next one gets the new value.
  await hw.api('PUT', '/environment_variables/FOR_STEPS', { value: `${value}-longer` });
  await hw.api('POST', `/workflows/${made.id}/run`, {});
  const executions = await untilExecutions(hw.sql, made.id, 2);
  const lengths = executions.map(({ steps: [step] }) =>
    Number((step?.value as { length: number } | undefined)?.length),
  );
  expect(lengths.toSorted((a, b) => a - b)).toEqual([value.length, value.length + '-longer'.length]);
});

test('each execution is of the version that was current when it began', async () => {
  const made = await makeWorkflow(hw, { triggers: [{ type: 'http' }], steps: [echo('a', { text: 'one' })] });
  const url = made.triggers[0].endpoint_url as string;
  await post(url, {});
  await untilExecutions(hw.sql, made.id, 1);
  const second = await update(made.id, { steps: [echo('a', { text: 'two' }), echo('b')] });
  await post(url, {});
  await untilExecutions(hw.sql, made.id, 2);
  await hw.api('POST', `/workflows/${made.id}/deploy`, { deployment_id: made.deployment_id });
  await post(url, {});
  const executions = await untilExecutions(hw.sql, made.id, 3);
  const seen = executions.map(({ deploymentId, steps }) => {
    const { text } = (steps[0]?.value ?? {}) as { text?: string };
    return `${deploymentId} ${text}`;
  });
  const expected = [`${made.deployment_id} one`, `${made.deployment_id} one`, `${second.deployment_id} two`];
  expect(seen.toSorted()).toEqual(expected.toSorted());
});

test('one that waits goes on with its own version after another was deployed', async () => {
  const made = await makeWorkflow(hw, {
    steps: [
      { namespace: 'wait', component_code: action('return $.flow.suspend(60_000);') },
      echo('after', { text: 'old' }),
    ],
  });
  await hw.api('POST', `/workflows/${made.id}/run`, {});
  const waits = () =>
    hw.sql<{ token: string; execution_id: string }[]>`select * from execution_waits where workflow_id = ${made.id}`;
  await eventually(async () => (await waits()).length === 1, { what: 'the execution to wait' });
  await update(made.id, { steps: [{ namespace: 'after', component_code: ECHO, props: { text: 'new' } }] });
  const [wait] = await waits();
  expect((await fetch(`${hw.url}/resume/${wait?.execution_id}/${wait?.token}`)).status).toBeLessThan(400);
  const [execution] = await untilExecutions(hw.sql, made.id, 1);
  expect(execution).toMatchObject({ status: 'succeeded', deploymentId: made.deployment_id });
  expect(execution?.steps[1]?.value).toMatchObject({ text: 'old' });
});

test('a timer trigger starts the workflow, and a stopped one is started no more', async () => {
  const made = await makeWorkflow(hw, {
    triggers: [{ type: 'timer', interval_seconds: 1 }],
    steps: [{ namespace: 'a', component_code: action('return steps.trigger.event;') }],
  });
  const [execution] = await untilExecutions(hw.sql, made.id, 1);
  expect(execution?.steps[0]?.value).toMatchObject({ interval_seconds: 1, timestamp: expect.any(Number) });
  await update(made.id, { active: false });
  expect(await hw.sql`select from timers where source_id = ${made.id}`).toHaveLength(0);
});
