import { afterAll, beforeAll, expect, it } from 'vitest';
import { action, letTimePass, readExecutions, untilExecutions } from '../../support/executions.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertTriggered, type WorkflowParts } from '../../support/workflow-rows.ts';

let headwater: Headwater;
beforeAll(async () => {
  headwater = await startHeadwater();
});
afterAll(() => headwater.stop());

/** Resolves when no job has this member in its payload. */
async function untilJobsEnd(member: 'sourceId' | 'executionId', id: string): Promise<void> {
  const left = () => headwater.sql`select from graphile_worker._private_jobs where payload ->> ${member} = ${id}`;
  await eventually(async () => (await left()).length === 0, { what: `the jobs of ${id}` });
}

const workflow = (parts: Omit<WorkflowParts, 'accountId'>) => insertTriggered(headwater, parts);

it('steps run one after the other, and each finds the exports and results of those before it', async () => {
  const { id, endpoint } = await workflow({
    steps: [
      { namespace: 'first', code: action('$.export("name", "Ada"); return { n: steps.trigger.event.body.n };') },
      { namespace: 'second', code: action('return [steps.first.name, steps.first.$return_value.n + 1];') },
      {
        namespace: 'third',
        code: action('$.export("$summary", "done"); return this.text;'),
        props: { text: '{{steps.second.$return_value[0]}} {{steps.second.$return_value[1]}}' },
      },
    ],
  });
  expect((await post(endpoint, { n: 41 })).status).toBe(200);
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution).toMatchObject({
    status: 'succeeded',
    error: null,
    steps: [
      { namespace: 'first', status: 'done', runs: 1, value: { n: 41 }, exports: { name: 'Ada' } },
      { namespace: 'second', status: 'done', value: ['Ada', 42] },
      { namespace: 'third', status: 'done', value: 'Ada 42', exports: { $summary: 'done' } },
    ],
  });
  expect(await headwater.sql`select from invocations`).toHaveLength(0);
});

it('the context names the execution and its version, and has the time left', async () => {
  const { id, deploymentId, endpoint } = await workflow({
    settings: { timeoutSeconds: 20 },
    steps: [{ namespace: 'look', code: action('return { ...$.context, same: steps.trigger.context.id };') }],
  });
  const before = Date.now();
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  const seen = execution?.steps[0]?.value as Record<string, unknown>;
  expect(seen).toMatchObject({
    id: execution?.id,
    same: execution?.id,
    workflow_id: id,
    workflow_name: 'Flow',
    deployment_id: deploymentId,
    emitter_id: expect.stringMatching(/^hi_/),
    owner_id: headwater.accountId,
    trace_id: execution?.id,
    replay: false,
    platform_version: '0.1.0',
    JIT: false,
    run: { runs: 1 },
  });
  expect(Date.parse(String(seen['ts']))).toBeGreaterThanOrEqual(before - 1);
  expect(Number(seen['deadline'])).toBeGreaterThanOrEqual(before + 20_000);
  expect(Number(seen['deadline'])).toBeLessThanOrEqual(Date.now() + 20_000);
});

it('the event of an HTTP trigger has the request and its client', async () => {
  const { id, endpoint } = await workflow({
    steps: [{ namespace: 'look', code: action('return steps.trigger.event;') }],
  });
  await post(`${endpoint}/orders?a=1`, { n: 1 });
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution?.steps[0]?.value).toMatchObject({
    method: 'POST',
    path: '/orders',
    query: { a: '1' },
    body: { n: 1 },
    bodyRaw: '{"n":1}',
    client_ip: expect.stringContaining('127.0.0.1'),
    url: `${endpoint}/orders?a=1`,
  });
});

it('exit ends the execution with its reason, and later steps do not run', async () => {
  const { id, endpoint } = await workflow({
    steps: [
      { namespace: 'stop', code: action('return $.flow.exit("nothing new");') },
      { namespace: 'never', code: action('return 1;') },
    ],
  });
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution).toMatchObject({ status: 'exited', reason: 'nothing new' });
  expect(execution?.steps.map(({ namespace }) => namespace)).toEqual(['stop']);
});

it('a step that fails ends the execution, keeps its outputs and emits on $errors', async () => {
  const { id, endpoint } = await workflow({
    steps: [
      { namespace: 'fine', code: action('return 1;') },
      { namespace: 'broken', code: action('$.export("half", 5); console.log("so far"); throw new Error("no more");') },
      { namespace: 'never', code: action('return 1;') },
    ],
  });
  await post(endpoint, { a: 1 });
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution).toMatchObject({
    status: 'failed',
    error: { code: 'COMPONENT_ERROR', message: expect.stringContaining('no more'), namespace: 'broken' },
    steps: [
      { namespace: 'fine', status: 'done' },
      { namespace: 'broken', status: 'failed', exports: { half: 5 }, logs: [{ message: 'so far' }] },
    ],
  });
  const [event] = await headwater.sql<{ data: string; channel: string }[]>`
    select data, channel from events where emitter_id = ${id}`;
  expect(event?.channel).toBe('$errors');
  expect(JSON.parse(event?.data ?? '')).toMatchObject({
    error: {
      code: 'COMPONENT_ERROR',
      cellId: expect.stringMatching(/^c_/),
      namespace: 'broken',
      ts: expect.any(Number),
    },
    original_event: { body: { a: 1 } },
    original_context: { id: execution?.id, workflow_id: id, trace_id: execution?.id },
  });
});

it('an execution that takes longer than its workflow may ends as failed, and says so', async () => {
  const slow = await startReceiver();
  slow.answer = { delayMs: 20_000 };
  const { id, endpoint } = await workflow({
    settings: { timeoutSeconds: 3 },
    steps: [
      { namespace: 'quick', code: action('return 1;') },
      { namespace: 'slow', code: action(`$.export("asked", true); await fetch("${slow.url}");`) },
    ],
  });
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  expect(execution?.error).toMatchObject({
    code: 'WALL_LIMIT',
    message: expect.stringContaining('timeout_seconds of 3'),
    limit: { name: 'timeout_seconds', value: 3, used: expect.any(Number) },
  });
  expect(execution).toHaveProperty(
    'error.limit.used',
    expect.toSatisfy((seconds: number) => seconds >= 3),
  );
  expect(execution?.steps[1]).toMatchObject({ status: 'failed', exports: { asked: true } });
  await slow.stop();
});

it('an execution may take as long as its trigger allows, unless its workflow says otherwise', async () => {
  const steps = [
    { namespace: 'late', code: action('await new Promise((done) => setTimeout(done, 2_500)); return 1;') },
  ];
  const unsaid = await workflow({ steps });
  const said = await workflow({ settings: { timeoutSeconds: 20 }, steps });
  await headwater.limit({ httpRunWallMs: 1_000, timerRunWallMs: 1_500 });
  try {
    for (const { endpoint } of [unsaid, said]) await post(endpoint, {});
    const [byHttp] = await untilExecutions(headwater.sql, unsaid.id, 1);
    expect(byHttp?.error).toMatchObject({ code: 'WALL_LIMIT', limit: { name: 'httpRunWallMs', value: 1_000 } });
    await headwater.api('POST', `/workflows/${unsaid.id}/run`, { event: {} });
    const byHand = (await untilExecutions(headwater.sql, unsaid.id, 2)).find(({ id }) => id !== byHttp?.id);
    expect(byHand?.error).toMatchObject({ code: 'WALL_LIMIT', limit: { name: 'timerRunWallMs', value: 1_500 } });
    expect((await untilExecutions(headwater.sql, said.id, 1))[0]?.status).toBe('succeeded');
  } finally {
    await headwater.limit({ httpRunWallMs: null, timerRunWallMs: null });
  }
});

it('a lowered limit of an account holds for versions saved before', async () => {
  const settings = { timeoutSeconds: 20, memoryMb: 512 };
  const late = await workflow({
    settings,
    steps: [{ namespace: 'late', code: action('await new Promise((done) => setTimeout(done, 10_000));') }],
  });
  const large = await workflow({
    settings,
    steps: [{ namespace: 'large', code: action('const kept = []; for (;;) kept.push(new Array(100_000).fill(1.5));') }],
  });
  await headwater.limit({ memoryMb: 64 });
  try {
    await post(large.endpoint, {});
    const [full] = await untilExecutions(headwater.sql, large.id, 1);
    expect(full?.error).toMatchObject({ code: 'MEMORY_LIMIT', limit: { name: 'memoryMb', value: 64 } });
    await headwater.limit({ executionWallMs: 1_500 });
    await post(late.endpoint, {});
    const [ended] = await untilExecutions(headwater.sql, late.id, 1);
    expect(ended?.error).toMatchObject({ code: 'WALL_LIMIT', limit: { name: 'executionWallMs', value: 1_500 } });
  } finally {
    await headwater.limit({ executionWallMs: null, memoryMb: null });
  }
});

it('events of steps become events of the workflow with the end of the execution', async () => {
  const { id, endpoint } = await workflow({
    steps: [
      { namespace: 'one', code: action('$.send.emit({ n: 1 }); $.send.emit({ name: "side", raw_event: { n: 2 } });') },
      {
        namespace: 'two',
        code: action('$.send.sse({ channel: "live", payload: { n: 3 } }); throw new Error("after all");'),
      },
    ],
  });
  await post(endpoint, {});
  await untilExecutions(headwater.sql, id, 1);
  const events = await headwater.sql<{ channel: string; data: string; trace: string }[]>`
    select channel, data, invocation_id as trace from events where emitter_id = ${id} order by indexed_at_ms, seq`;
  expect(events.map(({ channel, data }) => [channel, JSON.parse(data)]).slice(0, 3)).toEqual([
    ['', { n: 1 }],
    ['side', { n: 2 }],
    ['$sse', { channel: 'live', payload: { n: 3 } }],
  ]);
  expect(events.map(({ channel }) => channel)).toEqual(['', 'side', '$sse', '$errors']);
});

it('all steps of an execution share one limit of output', async () => {
  await headwater.limit({ maxRunOutputBytes: 200_000 });
  const { id, endpoint } = await workflow({
    steps: ['a', 'b', 'c'].map((namespace) => ({ namespace, code: action('return "x".repeat(80_000);') })),
  });
  await post(endpoint, {});
  const [execution] = await untilExecutions(headwater.sql, id, 1);
  await headwater.limit({ maxRunOutputBytes: null });
  expect(execution).toMatchObject({
    status: 'failed',
    error: { code: 'OUTPUT_LIMIT', namespace: 'c', limit: { name: 'maxRunOutputBytes' } },
  });
  expect(execution?.steps.map(({ status }) => status)).toEqual(['done', 'done', 'failed']);
});

it('a stopped workflow keeps its accepted executions until it is started again', async () => {
  const { id, endpoint } = await workflow({ steps: [{ namespace: 'one', code: action('return 1;') }] });
  await post(endpoint, {});
  await untilExecutions(headwater.sql, id, 1);
  await headwater.sql`update emitters set active = false where id = ${id}`;
  await headwater.sql`
    insert into invocations (id, account_id, source_id, kind, event, place)
    values ('exec_kept', ${headwater.accountId}, ${id}, 'manual', '{}', nextval('invocation_places'))`;
  await headwater.sql`select pg_notify('headwater_source_changed', ${id})`;
  await headwater.sql`select graphile_worker.add_job('run-source', json_build_object('sourceId', ${id}::text))`;
  await untilJobsEnd('sourceId', id);
  expect(await readExecutions(headwater.sql, id)).toHaveLength(1);
  await headwater.sql`update emitters set active = true where id = ${id}`;
  await headwater.sql`select pg_notify('headwater_source_changed', ${id})`;
  await headwater.sql`select graphile_worker.add_job('run-source', json_build_object('sourceId', ${id}::text))`;
  expect((await untilExecutions(headwater.sql, id, 2)).map((one) => one.id)).toContain('exec_kept');
});

it('an execution whose version is not there any more ends and says so, and is not taken for ever', async () => {
  const { id } = await workflow({ steps: [{ namespace: 'one', code: action('return 1;') }] });
  const { accountId, sql } = headwater;
  await sql`
    insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, value, exports, logs,
      started_at, ended_at)
    values ('exec_lost', 0, ${accountId}, 'd_gone', 'one', 'done', 1, '1', '{}', '[]', now(), now())`;
  await sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, place)
    values ('exec_lost', ${accountId}, ${id}, 'manual', '{}', 1, nextval('invocation_places'))`;
  await sql`select graphile_worker.add_job('run-source', json_build_object('sourceId', ${id}::text))`;
  const [execution] = await untilExecutions(sql, id, 1);
  expect(execution).toMatchObject({
    status: 'failed',
    deploymentId: 'd_gone',
    error: { code: 'INTERNAL', message: 'Version d_gone of the workflow is not there any more' },
    steps: [{ value: 1 }],
  });
  expect(await sql`select from invocations where source_id = ${id}`).toHaveLength(0);
});

it('nothing runs of a deleted workflow', async () => {
  const { id, endpoint } = await workflow({
    steps: [
      { namespace: 'wait', code: action('$.flow.delay(3_600_000);') },
      { namespace: 'never', code: action('return 1;') },
    ],
  });
  await post(endpoint, {});
  const [waiting] = await untilExecutions(headwater.sql, id, 1, ['waiting']);
  expect((await headwater.api('DELETE', `/workflows/${id}`)).status).toBe(204);
  await letTimePass(headwater.sql, waiting!.id);
  await untilJobsEnd('executionId', waiting!.id);
  await expect.poll(() => headwater.sql`select from invocations where source_id = ${id}`).toHaveLength(0);
  const steps = await headwater.sql`
    select namespace from execution_steps where execution_id in (select id from executions where workflow_id = ${id})`;
  expect(steps.filter(({ namespace }) => namespace === 'never')).toEqual([]);
});
