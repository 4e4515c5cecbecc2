import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action, readSteps, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeWorkflow, problemsOf, type Workflow } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw?.stop());

const code = (namespace: string, body: string, policy: Record<string, unknown> = {}) => ({
  namespace,
  component_code: action(body),
  ...policy,
});
const BREAKS = '$.export("half", 1); $.send.emit("of the broken"); throw new TypeError("no such order");';
const broken = (policy: Record<string, unknown>) => code('broken', BREAKS, policy);
const after = code('after', 'return steps.broken;');

async function execution(flow: Workflow, event: unknown = {}) {
  const { data } = await hw.api('POST', `/workflows/${flow.id}/run`, { event });
  const ended = await untilExecutions(hw.sql, flow.id as string, 1);
  return ended.find(({ id }) => id === data.execution_id);
}

/** Makes a waiting retry due now. */
async function tryAgain(id: string, failures: number): Promise<void> {
  await eventually(async () => {
    const { count } = await hw.sql`
      update execution_waits set wake_at = now() where execution_id = ${id} and kind = 'retry' and failures = ${failures}`;
    return count === 1;
  });
  await hw.sql`
    select graphile_worker.add_job('wake-execution', json_build_object('executionId', ${id}::text), job_key => ${`wake:${id}`})`;
}

test('steps behind one that may fail run, and see its exports and its error', async () => {
  const flow = await makeWorkflow(hw, { steps: [broken({ on_error: 'continue' }), after] });
  const ended = await execution(flow);
  expect(ended).toMatchObject({ status: 'succeeded', error: null });
  expect(ended?.steps.map(({ status }) => status)).toEqual(['continued', 'done']);
  expect(ended?.steps[1]?.value).toEqual({
    half: 1,
    $error: {
      code: 'COMPONENT_ERROR',
      message: expect.stringContaining('no such order'),
      stack: expect.any(String),
      namespace: 'broken',
    },
  });
  const { data } = await hw.api('GET', `/executions/${ended?.id}`);
  expect(data.steps.broken).toMatchObject({
    status: 'continued',
    error: { message: expect.stringContaining('order') },
  });
  const events = await hw.sql<{ channel: string; data: string }[]>`
    select channel, data from events where emitter_id = ${flow.id as string}`;
  expect(events.map((one) => ({ ...one }))).toEqual([{ channel: '', data: '"of the broken"' }]);
});

test('an expression reads the error where there is one, and goes without it where there is none', async () => {
  const told = {
    namespace: 'told',
    component_code: action('return this.text;', 'text: "any"'),
    props: { text: '{{steps.broken?.$error?.code ?? "fine"}}' },
  };
  const one = (body: string) => ({ ...code('broken', body, { on_error: 'continue' }) });
  for (const [body, expected] of [
    ['throw new Error("no");', 'COMPONENT_ERROR'],
    ['return 1;', 'fine'],
  ] as const) {
    const ended = await execution(await makeWorkflow(hw, { steps: [one(body), told] }));
    expect(ended?.steps[1]?.value).toBe(expected);
  }
});

test('an export of the name $error does not hide the error', async () => {
  const steps = [
    code('broken', '$.export("$error", "none"); throw new Error("real");', { on_error: 'continue' }),
    after,
  ];
  const ended = await execution(await makeWorkflow(hw, { steps }));
  expect(ended?.steps[1]?.value).toMatchObject({ $error: { message: expect.stringContaining('real') } });
});

test('a step is retried as often as its own setting says, before others go on', async () => {
  const settings = { retries: 5 };
  const body = 'throw new Error("run " + $.context.run.runs);';
  const flow = await makeWorkflow(hw, {
    settings,
    steps: [code('broken', body, { retries: 1, on_error: 'continue' }), after],
  });
  const { data } = await hw.api('POST', `/workflows/${flow.id}/run`);
  await tryAgain(data.execution_id as string, 1);
  const [ended] = await untilExecutions(hw.sql, flow.id as string, 1, ['succeeded', 'failed']);
  expect(ended).toMatchObject({ status: 'succeeded', steps: [{ status: 'continued', runs: 2 }, { status: 'done' }] });
  expect(ended?.steps[1]?.value).toMatchObject({ $error: { message: expect.stringContaining('run 2') } });
  const none = await makeWorkflow(hw, { settings, steps: [broken({ retries: 0 })] });
  expect(await execution(none)).toMatchObject({ status: 'failed', steps: [{ status: 'failed', runs: 1 }] });
});

test('an execution that goes on behind a failed step, and waits or is replayed, does not run that step again', async () => {
  const receiver = await startReceiver();
  const asks = code('broken', `await fetch("${receiver.url}"); throw new Error("once");`, { on_error: 'continue' });
  const steps = [asks, code('wait', '$.flow.delay(50);'), after, code('last', 'throw new Error("the end");')];
  const flow = await makeWorkflow(hw, { steps });
  const ended = await execution(flow);
  expect(ended).toMatchObject({ status: 'failed', error: { namespace: 'last' } });
  expect(ended?.steps[2]?.value).toMatchObject({ $error: { message: expect.stringContaining('once') } });
  const { data } = await hw.api('POST', `/executions/${ended?.id}/replay`, { from: 'failed' });
  await untilExecutions(hw.sql, flow.id as string, 2);
  const replayed = await readSteps(hw.sql, data.execution_id as string);
  expect(replayed.map(({ status }) => status)).toEqual(['continued', 'done', 'done', 'failed']);
  expect(receiver.requests).toHaveLength(1);
  const tested = await hw.api('POST', `/workflows/${flow.id}/test`, { event_id: ended?.id, step: 'after' });
  expect(tested.data.steps[0].$return_value).toEqual(ended?.steps[2]?.value);
  await receiver.stop();
});

test('the end of the time is the end of the execution', async () => {
  const endless = code('broken', 'await new Promise(() => setInterval(() => {}, 10));', { on_error: 'continue' });
  const flow = await makeWorkflow(hw, { settings: { timeout_seconds: 1 }, steps: [endless, after] });
  expect(await execution(flow)).toMatchObject({
    status: 'failed',
    error: { code: 'WALL_LIMIT' },
    steps: [{ status: 'failed' }],
  });
});

test('a test goes on behind it as well', async () => {
  const flow = await makeWorkflow(hw, { steps: [broken({ on_error: 'continue', retries: 3 }), after] });
  const { data } = await hw.api('POST', `/workflows/${flow.id}/test`);
  expect(data).toMatchObject({
    status: 'succeeded',
    steps: [{ status: 'continued', error: { code: 'COMPONENT_ERROR' } }, { $return_value: { half: 1 } }],
  });
});

test('a setting of a step is kept by an update without it, removed by null, and shown', async () => {
  const flow = await makeWorkflow(hw, { steps: [broken({ on_error: 'continue', retries: 2 }), after] });
  expect(flow.steps).toMatchObject([
    { retries: 2, on_error: 'continue' },
    { retries: null, on_error: 'fail' },
  ]);
  const update = async (step: Record<string, unknown>) =>
    (await hw.api('PUT', `/workflows/${flow.id}`, { steps: [{ namespace: 'broken', ...step }] })).data.steps[0];
  expect(await update({})).toMatchObject({ retries: 2, on_error: 'continue' });
  expect(await update({ retries: null })).toMatchObject({ retries: null, on_error: 'continue' });
  expect(await update({ on_error: null, retries: 0 })).toMatchObject({ retries: 0, on_error: 'fail' });
  const { data } = await hw.api('GET', `/workflows/${flow.id}`);
  expect((await hw.api('PUT', `/workflows/${flow.id}`, { steps: data.steps })).data.steps).toEqual(data.steps);
  for (const [policy, path] of [
    [{ retries: 11 }, 'steps.0.retries'],
    [{ retries: 1.5 }, 'steps.0.retries'],
    [{ retries: -1 }, 'steps.0.retries'],
    [{ on_error: 'ignore' }, 'steps.0.on_error'],
  ] as const) {
    const answer = await hw.api('POST', '/workflows', { steps: [broken(policy)] });
    expect([answer.status, Object.keys(problemsOf(answer))]).toEqual([400, [path]]);
  }
});
