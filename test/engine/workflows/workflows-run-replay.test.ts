import { afterAll, beforeAll, expect, it } from 'vitest';
import { blockedBy } from '../../support/blocked-backends.ts';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { post } from '../../support/server.ts';
import { insertDeployment, insertWorkflow, type StepSource } from '../../support/workflow-rows.ts';

let headwater: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  headwater = await startHeadwater();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await headwater.stop();
});

const asking = (namespace: string): StepSource => ({
  namespace,
  code: action(`await fetch("${receiver.url}/${namespace}"); $.send.emit("${namespace}"); return "of ${namespace}";`),
});
const broken: StepSource = { namespace: 'b', code: action('throw new Error("not yet");') };
const mended: StepSource = {
  namespace: 'b',
  code: action('return steps.a.$return_value + ", mended " + $.context.replay;'),
};

async function failedWorkflow() {
  receiver.requests.length = 0;
  const { accountId } = headwater;
  const made = await insertWorkflow(headwater.sql, { accountId, steps: [asking('a'), broken, asking('c')] });
  await post(`${headwater.url}/e/${made.endpointKey}`, { given: 1 });
  const [failed] = await untilExecutions(headwater.sql, made.id, 1);
  const mend = () =>
    insertDeployment(headwater.sql, made.id, { accountId, steps: [asking('a'), mended, asking('c')], triggers: [] });
  return { ...made, failed: failed?.id ?? '', mend };
}

const replay = (id: string, body: Record<string, unknown> = {}) =>
  headwater.api('POST', `/executions/${id}/replay`, body);

it('a replay from the failed step reuses completed steps, and repeats none of their sends', async () => {
  const { id, failed, mend } = await failedWorkflow();
  const newest = await mend();
  const { status, data } = await replay(failed, { from: 'failed', deployment: 'newest' });
  expect(status).toBe(200);
  const executions = await untilExecutions(headwater.sql, id, 2);
  expect(executions.find((one) => one.id === data.execution_id)).toMatchObject({
    status: 'succeeded',
    deploymentId: newest,
    context: { replay: true, id: data.execution_id, deployment_id: newest, emitter_id: expect.stringMatching(/^hi_/) },
    steps: [{ value: 'of a' }, { value: 'of a, mended true' }, { value: 'of c' }],
  });
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/a', '/c']);
  const events = await headwater.sql<{ data: string }[]>`
    select data from events where emitter_id = ${id} and channel = '' order by indexed_at_ms, seq`;
  expect(events.map(({ data: text }) => text)).toEqual(['"a"', '"c"']);
  const [row] = await headwater.sql`select replay_of, event from executions where id = ${data.execution_id as string}`;
  expect(row).toMatchObject({ replay_of: failed, event: expect.stringContaining('{"given":1}') });
});

it('a replay from the start runs every step, by default with the version that it had', async () => {
  const { id, failed, mend, deploymentId } = await failedWorkflow();
  await mend();
  const { data } = await replay(failed);
  const executions = await untilExecutions(headwater.sql, id, 2);
  expect(executions.find((one) => one.id === data.execution_id)).toMatchObject({ status: 'failed', deploymentId });
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/a', '/a']);
});

it('a replay on another version reuses results as far as the two are the same', async () => {
  const { id, failed } = await failedWorkflow();
  const { accountId } = headwater;
  await insertDeployment(headwater.sql, id, { accountId, steps: [asking('first'), asking('a')], triggers: [] });
  await replay(failed, { from: 'failed', deployment: 'newest' });
  await untilExecutions(headwater.sql, id, 2);
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/a', '/first', '/a']);
});

it('steps that retention deletes before a replay has copied them do not run a second time', async () => {
  for (const what of ['executions', 'steps'] as const) {
    const { id, failed, deploymentId } = await failedWorkflow();
    let replayed: ReturnType<typeof replay> | undefined;
    await headwater.sql.begin(async (tx) => {
      // It is read, with its steps, and the version is being waited for.
      await tx`select from deployments where id = ${deploymentId} for update`;
      replayed = replay(failed, { from: 'failed' });
      await eventually(async () => (await blockedBy(tx)).length > 0);
      if (what === 'executions') await tx`delete from executions where id = ${failed}`;
      await tx`delete from execution_steps where execution_id = ${failed}`;
    });
    expect(await replayed).toMatchObject({ status: 409, text: expect.stringContaining('deleted meanwhile') });
    expect(await headwater.sql`select from executions where replay_of = ${failed}`).toHaveLength(0);
    expect(await headwater.sql`select from invocations where source_id = ${id}`).toHaveLength(0);
    expect(receiver.requests.map(({ url }) => url)).toEqual(['/a']);
  }
});

it('an execution and its steps are read at one moment', async () => {
  const { failed } = await failedWorkflow();
  let replayed: ReturnType<typeof replay> | undefined;
  await headwater.sql.begin(async (tx) => {
    await tx`lock table execution_steps in access exclusive mode`;
    replayed = replay(failed, { from: 'failed' });
    await eventually(async () => (await blockedBy(tx)).length > 0);
    await tx`delete from executions where id = ${failed}`;
    await tx`delete from execution_steps where execution_id = ${failed}`;
  });
  expect((await replayed)?.status).toBe(404);
});

it('a replay or cancellation that is impossible is refused with the reason', async () => {
  const { id, failed } = await failedWorkflow();
  expect((await replay('exec_none')).status).toBe(404);
  expect(await replay(failed, { from: 'middle' })).toMatchObject({
    status: 400,
    text: expect.stringContaining('from'),
  });
  expect(await headwater.api('POST', `/executions/${failed}/cancel`)).toMatchObject({ status: 409 });
  const other = await headwater.admin('POST', '/accounts', { name: 'Other' });
  const asOther = headwater.as(other.data.api_key as string);
  expect((await asOther('POST', `/executions/${failed}/replay`)).status).toBe(404);
  expect((await asOther('POST', `/executions/${failed}/cancel`)).status).toBe(404);
  await headwater.sql`update emitters set active = false where id = ${id}`;
  await headwater.sql`select pg_notify('headwater_source_changed', ${id})`;
  await expect.poll(async () => (await replay(failed)).status).toBe(409);
});

it('a replay of an execution cancelled while waiting asks again: nothing behind the wait is run', async () => {
  const { accountId } = headwater;
  const ask = { namespace: 'ask', code: action('$.flow.suspend(); return $.context.replay;') };
  const steps = [asking('a'), ask, asking('c')];
  receiver.requests.length = 0;
  const { id, endpointKey } = await insertWorkflow(headwater.sql, { accountId, steps });
  await post(`${headwater.url}/e/${endpointKey}`, {});
  const [waiting] = await untilExecutions(headwater.sql, id, 1, ['waiting']);
  expect((await headwater.api('POST', `/executions/${waiting?.id}/cancel`)).status).toBe(204);
  const { data } = await replay(waiting?.id ?? '', { from: 'failed' });
  const [again] = await untilExecutions(headwater.sql, id, 1, ['waiting']);
  expect(again).toMatchObject({ id: data.execution_id, steps: [{ status: 'done' }, { value: true }] });
  expect(receiver.requests.map(({ url }) => url)).toEqual(['/a']);
  expect((await headwater.api('POST', `/executions/${again?.id}/cancel`)).status).toBe(204);
});

it('an execution that waits and one that is queued can be cancelled', async () => {
  const { accountId } = headwater;
  const wait = { namespace: 'wait', code: action('$.flow.delay(3_600_000);') };
  const { id, endpointKey } = await insertWorkflow(headwater.sql, { accountId, steps: [wait] });
  await post(`${headwater.url}/e/${endpointKey}`, {});
  const [waiting] = await untilExecutions(headwater.sql, id, 1, ['waiting']);
  await headwater.sql`
    insert into invocations (id, account_id, source_id, kind, event) values ('exec_queued', ${accountId}, ${id}, 'manual', '{}')`;
  expect((await headwater.api('POST', '/executions/exec_queued/cancel')).status).toBe(204);
  expect((await headwater.api('POST', `/executions/${waiting?.id}/cancel`)).status).toBe(204);
  expect((await untilExecutions(headwater.sql, id, 2)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
  expect(await headwater.sql`select from graphile_worker.jobs where key like 'wake:%'`).toHaveLength(0);
  expect(await headwater.sql`select from execution_waits`).toHaveLength(0);
});
