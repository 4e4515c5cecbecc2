import { LIMITS, newId } from '@headwater/shared';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { insertAccount } from '../../support/source-rows.ts';
import { post } from '../../support/server.ts';
import { insertDeployment, insertWorkflow, type StepSource } from '../../support/workflow-rows.ts';

let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  hw = await sharedHeadwater();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await hw.stop();
});

const step = (namespace: string, body: string, props?: Record<string, unknown>): StepSource => ({
  namespace,
  code: action(body),
  ...(props === undefined ? {} : { props }),
});

async function flow(steps: StepSource[], accountId = hw.accountId) {
  const { id, deploymentId, endpointKey } = await insertWorkflow(hw.sql, { accountId, steps });
  return { id, deploymentId, endpoint: `${hw.url}/e/${endpointKey}` };
}

const run = (id: string, parameters: Record<string, unknown> = {}) =>
  hw.api('POST', `/workflows/${id}/test`, parameters);

/** Rows that a live execution would have left. */
async function traces(id: string): Promise<number> {
  const tables = [
    hw.sql`select from executions where workflow_id = ${id}`,
    hw.sql`select from invocations where source_id = ${id}`,
    hw.sql`select from execution_steps s where not exists (select from executions e where e.id = s.execution_id)`,
    hw.sql`select from execution_waits where workflow_id = ${id}`,
    hw.sql`select from events where emitter_id = ${id}`,
    hw.sql`select from sends where workflow_id = ${id}`,
  ];
  return (await Promise.all(tables)).flat().length;
}

it('all steps run on the given event, and the outcome of each is in the answer', async () => {
  const { id, deploymentId } = await flow([
    step('first', 'console.log("here"); $.export("name", "Ada"); return { n: steps.trigger.event.n };'),
    step('second', 'return [$.context.JIT, $.context.run.runs, $.context.workflow_id, this.text];', {
      text: '{{steps.first.name}} {{steps.first.$return_value.n}}',
    }),
    step('third', '$.export("$summary", "nothing returned");'),
  ]);
  const { status, data } = await run(id, { event: { n: 2 } });
  expect(status).toBe(200);
  expect(data).toMatchObject({
    deployment_id: deploymentId,
    status: 'succeeded',
    trigger: { event: { n: 2 }, context: { workflow_id: id, deployment_id: deploymentId } },
    steps: [
      {
        namespace: 'first',
        status: 'done',
        $return_value: { n: 2 },
        exports: { name: 'Ada' },
        logs: [{ level: 'info', message: 'here' }],
        error: null,
        flow: null,
        sends: [],
        responds: [],
      },
      { namespace: 'second', $return_value: [true, 1, id, 'Ada 2'] },
      { namespace: 'third', exports: { $summary: 'nothing returned' } },
    ],
  });
  expect('$return_value' in data.steps[2]).toBe(false);
  expect(data.steps[0].started_at).toBeLessThanOrEqual(data.steps[0].ended_at);
  expect(await traces(id)).toBe(0);
});

it('requests are made, but nothing is sent, emitted or answered: it is all in the answer', async () => {
  const { id } = await flow([
    step(
      'all',
      `await fetch('${receiver.url}/real');
      $.send.http({ method: 'POST', url: '${receiver.url}/sent', data: { a: 1 } });
      $.send.emit({ b: 2 });
      await $.respond({ status: 201, headers: { 'x-a': 'b' }, body: { c: 3 } });`,
    ),
  ]);
  const { data } = await run(id);
  expect(data.steps[0]).toMatchObject({
    status: 'done',
    sends: [
      { kind: 'http', payload: { method: 'POST', url: `${receiver.url}/sent`, data: { a: 1 } } },
      { kind: 'emit', payload: { raw_event: { b: 2 } } },
    ],
    responds: [
      {
        status: 201,
        headers: { 'x-a': 'b' },
        body: '{"c":3}',
        is_base64: false,
        body_truncated: false,
        immediate: false,
      },
    ],
  });
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/real']);
  expect(await traces(id)).toBe(0);
});

it('the beginning of a long response body is in the answer, marked as cut', async () => {
  const { id } = await flow([
    step('text', `await $.respond({ status: 200, body: '\u00e9'.repeat(40_000) + 'end' });`),
    step('bytes', `await $.respond({ status: 200, body: Buffer.alloc(100_000, 255), immediate: true });`),
  ]);
  const [text, bytes] = (await run(id)).data.steps;
  expect(text.responds).toHaveLength(1);
  expect(text.responds[0]).toMatchObject({ is_base64: false, body_truncated: true, immediate: false });
  expect(text.responds[0].body).toBe('\u00e9'.repeat(LIMITS.shownStepBytes / 2));
  expect(bytes.responds).toHaveLength(1);
  expect(bytes.responds[0]).toMatchObject({ is_base64: true, body_truncated: true, immediate: true });
  expect(Buffer.from(bytes.responds[0].body, 'base64')).toEqual(Buffer.alloc(LIMITS.shownStepBytes, 255));
});

it('a step that fails ends the test with its error, logs and partial exports', async () => {
  const { id } = await flow([
    step('ok', 'return 1;'),
    step('bad', '$.export("half", 1); console.warn("soon"); throw new TypeError("no such thing");'),
    step('never', 'return 3;'),
  ]);
  const { data } = await run(id);
  expect(data.status).toBe('failed');
  expect(data.steps.map(({ namespace }: { namespace: string }) => namespace)).toEqual(['ok', 'bad']);
  expect(data.steps[1]).toMatchObject({
    status: 'failed',
    exports: { half: 1 },
    logs: [{ level: 'warn', message: 'soon' }],
    error: { code: 'COMPONENT_ERROR', message: expect.stringContaining('no such thing') },
  });
  expect(await traces(id)).toBe(0);
});

it('an exit ends it, a delay and a suspension are over at once, and a rerun is only told', async () => {
  const exits = await flow([step('a', 'return $.flow.exit("enough");'), step('b', 'return 1;')]);
  expect((await run(exits.id)).data).toMatchObject({
    status: 'exited',
    steps: [{ namespace: 'a', flow: { kind: 'exit', reason: 'enough' } }],
  });
  const waits = await flow([
    step('a', 'const { resume_url } = $.flow.delay(60_000); return typeof resume_url;'),
    step('b', '$.flow.suspend(5000);'),
    step('c', 'return steps.a.$return_value;'),
  ]);
  expect((await run(waits.id)).data).toMatchObject({
    status: 'succeeded',
    steps: [
      { $return_value: 'string', flow: { kind: 'delay', ms: 60_000 } },
      { flow: { kind: 'suspend', ms: 5000 } },
      { namespace: 'c', $return_value: 'string', flow: null },
    ],
  });
  const again = await flow([step('a', '$.flow.rerun(1000, { page: 2 });'), step('b', 'return 1;')]);
  expect((await run(again.id)).data).toMatchObject({
    status: 'rerun',
    steps: [{ namespace: 'a', flow: { kind: 'rerun', ms: 1000, context: { page: 2 } } }],
  });
  for (const { id } of [exits, waits, again]) expect(await traces(id)).toBe(0);
});

describe('with a past execution', () => {
  it('one step runs after the steps that have completed, and the execution stays as it is', async () => {
    const { id, endpoint } = await flow([
      step('first', 'return { at: "then" };'),
      step('second', 'return [steps.first.$return_value.at, steps.trigger.event.body.n, $.context.JIT];'),
      step('third', `await fetch('${receiver.url}/third');`),
    ]);
    await post(endpoint, { n: 7 });
    const [execution] = await untilExecutions(hw.sql, id, 1);
    const before = receiver.requests.length;
    const { data } = await run(id, { event_id: execution?.id, step: 'second' });
    expect(data.steps).toHaveLength(1);
    expect(data.steps[0]).toMatchObject({ namespace: 'second', $return_value: ['then', 7, true] });
    expect(data.trigger.context).toMatchObject({ trace_id: execution?.context['trace_id'] });
    expect(data.trigger.context.id).not.toBe(execution?.id);
    expect(receiver.requests.length).toBe(before);
    expect(await untilExecutions(hw.sql, id, 1)).toEqual([execution]);
  });

  it('the steps up to one run anew', async () => {
    const { id, endpoint } = await flow([
      step('first', 'return steps.trigger.event.body.n + ($.context.JIT ? 100 : 0);'),
      step('second', 'return steps.first.$return_value;'),
      step('third', 'throw new Error("not this one");'),
    ]);
    await post(endpoint, { n: 1 });
    const [execution] = await untilExecutions(hw.sql, id, 1);
    const { data } = await run(id, { event_id: execution?.id, up_to: 'second' });
    expect(data).toMatchObject({ status: 'succeeded', steps: [{ $return_value: 101 }, { $return_value: 101 }] });
  });
});

it('an event of a source can be the trigger', async () => {
  const source = await hw.deploy(`export default { name: 'S', version: '1', run() { this.$emit({ big: 'x' }); } };`);
  await hw.api('POST', `/sources/${source.id}/run`);
  const [event] = await hw.untilEvents(source.id, 1);
  const { id } = await flow([step('a', 'return [steps.trigger.event, steps.trigger.context.emitter_id];')]);
  const emitId = `${source.id}-${event?.id}`;
  expect((await run(id, { event_id: emitId })).data.steps[0].$return_value).toEqual([{ big: 'x' }, source.id]);
  expect((await run(id, { event_id: emitId, event: { other: 1 } })).data.steps[0].$return_value[0]).toEqual({
    other: 1,
  });
});

it('the newest version is tested unless another one is named', async () => {
  const { id, deploymentId } = await flow([step('a', 'return "old";')]);
  const { accountId } = hw;
  const newest = await insertDeployment(hw.sql, id, { accountId, steps: [step('a', 'return "new";')], triggers: [] });
  await hw.sql`update emitters set deployment_id = ${deploymentId} where id = ${id}`;
  expect((await run(id)).data).toMatchObject({ deployment_id: newest, steps: [{ $return_value: 'new' }] });
  expect((await run(id, { deployment_id: deploymentId })).data.steps[0].$return_value).toBe('old');
});

it('an impossible test is refused by name', async () => {
  const { id } = await flow([step('a', 'return 1;'), step('b', 'return 1;')]);
  const other = await flow([step('a', 'return 1;')]);
  const foreign = await flow([step('a', 'return "theirs";')], await insertAccount(hw.sql));
  const elsewhere = newId('execution');
  await hw.sql`
    insert into executions (id, account_id, workflow_id, deployment_id, kind, status, event, context, trace_id, started_at)
    values (${elsewhere}, ${hw.accountId}, ${other.id}, ${other.deploymentId}, 'http', 'succeeded', '{}', '{}', 't', now())`;
  for (const [parameters, status, words] of [
    [{ step: 'c' }, 400, 'its steps are a, b'],
    [{ up_to: 'trigger' }, 400, 'its steps are a, b'],
    [{ step: 'a', up_to: 'b' }, 400, 'exclude each other'],
    [{ event_id: newId('execution') }, 400, 'event_id'],
    [{ event_id: elsewhere }, 400, 'event_id'],
    [{ event_id: 'dc_x-1-1' }, 400, 'event_id'],
    [{ event_id: "'; drop table events; --" }, 400, 'event_id'],
    [{ event_id: 'a\0b' }, 400, 'event_id'],
    [{ deployment_id: other.deploymentId }, 404, other.deploymentId],
    [{ deployment_id: foreign.deploymentId }, 404, foreign.deploymentId],
    [{ deployment_id: 'd_none' }, 404, 'd_none'],
    [{ event: 'x'.repeat(600_000) }, 413, 'event'],
  ] as const) {
    const answer = await run(id, parameters);
    expect([parameters, answer.status]).toEqual([parameters, status]);
    expect(answer.text).toContain(words);
  }
  for (const unknown of [foreign.id, 'p_none', 'dc_none']) expect((await run(unknown)).status).toBe(404);
});

it('secrets and environment variables are given to the steps and left out of the answer', async () => {
  const value = 'a-value-that-nobody-sees';
  expect((await hw.api('PUT', '/environment_variables/HIDDEN', { value })).status).toBe(200);
  const code = action(
    `console.log(this.key); $.send.http({ url: 'https://example.com', data: this.key }); $.export('x', { key: this.key });
    return this.key.length;`,
    'key: { type: "string", secret: true }',
  );
  const props = { key: '{{env.HIDDEN}}' };
  const { data } = await hw.api('POST', '/workflows', { steps: [{ namespace: 'a', component_code: code, props }] });
  const answer = await run(data.id);
  expect(answer.data).toMatchObject({ status: 'succeeded', steps: [{ $return_value: value.length }] });
  expect(answer.text).not.toContain(value);
  const again = action('$.flow.rerun(1000, { key: this.key });', 'key: { type: "string", secret: true }');
  const rerun = await hw.api('POST', '/workflows', { steps: [{ namespace: 'a', component_code: again, props }] });
  expect((await run(rerun.data.id)).data).toMatchObject({
    steps: [{ flow: { context: { key: '[secret:env.HIDDEN]' } } }],
  });
});

it('a workflow without steps is tested with its trigger alone', async () => {
  const { id } = await flow([]);
  expect((await run(id, { event: [1] })).data).toMatchObject({
    status: 'succeeded',
    trigger: { event: [1] },
    steps: [],
  });
});

it("a test is over after the workflow's timeout", async () => {
  const { id } = await flow([step('a', `await fetch('${receiver.url}/slow');`)]);
  await hw.sql`update deployments set settings = settings || '{"timeoutSeconds":1}' where workflow_id = ${id}`;
  receiver.answer = { delayMs: 60_000 };
  const { data } = await run(id);
  expect(data).toMatchObject({ status: 'failed', steps: [{ error: { code: 'WALL_LIMIT' } }] });
  expect(data.steps[0].error.message).toContain('timeout_seconds of 1');
  receiver.answer = {};
});

it('four tests of an account run at a time, and the others wait for their turn', async () => {
  const { id } = await flow([step('a', `await fetch('${receiver.url}/turn');`)]);
  await run(id);
  receiver.answer = { delayMs: 150 };
  const answers = await Promise.all(Array.from({ length: 10 }, () => run(id)));
  receiver.answer = {};
  const spans = answers.map(({ data }) => data.steps[0] as { started_at: number; ended_at: number });
  const together = spans.map(
    ({ started_at: at }) => spans.filter((other) => other.started_at <= at && at < other.ended_at).length,
  );
  expect(Math.max(...together)).toBe(4);
});
