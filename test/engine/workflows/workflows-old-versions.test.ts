import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRetention } from '../../../engine/src/cluster/retention/retention.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { makeWorkflow, PASS_ON, type Workflow } from '../../support/workflow-steps.ts';

const DAY_MS = 24 * 3600 * 1000;

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
  await hw.limit({ keptWorkflowVersions: 2, eventRetentionDays: 1 });
});
afterAll(() => hw?.stop());

const code = (body: string, namespace = 'a') => ({ namespace, component_code: action(body) });

/** A workflow with one version for each of these. */
async function versions(...bodies: string[]): Promise<Workflow> {
  const [first = '', ...others] = bodies;
  let flow = await makeWorkflow(hw, { steps: [code(first)] });
  for (const body of others) flow = (await hw.api('PUT', `/workflows/${flow.id}`, { steps: [code(body)] })).data;
  return flow;
}

/** Runs retention for today, and for the time `days` later. */
async function pass(days: number): Promise<void> {
  for (const later of [0, days]) {
    const nowMs = () => Date.now() + later * DAY_MS;
    const turn = createRetention({ sql: hw.sql, defaultDays: 30, defaultVersions: 20, nowMs });
    while ((await turn()) !== 'nothing');
  }
}

const numbers = async ({ id }: Workflow) =>
  (await hw.sql<{ version: number }[]>`select version from deployments where workflow_id = ${id} order by version`).map(
    ({ version }) => version,
  );
const componentsOf = async ({ id }: Workflow): Promise<string[]> =>
  (
    await hw.sql<{ id: string }[]>`
      select s ->> 'componentId' as id from deployments, jsonb_array_elements(steps) s where workflow_id = ${id}
      order by version`
  ).map((row) => row.id);
const areThere = async (ids: readonly string[]) =>
  (await hw.sql<{ id: string }[]>`select id from components where id = any(${[...ids]}::text[])`).map(({ id }) => id);
const deploymentOf = async ({ id }: Workflow, version: number): Promise<string> =>
  (await hw.sql<{ id: string }[]>`select id from deployments where workflow_id = ${id} and version = ${version}`)[0]
    ?.id as string;

test('the newest and the current version stay, older ones go when they were not used for the time of retention', async () => {
  const flow = await versions('return 1;', 'return 2;', 'return 3;', 'return 4;', 'return 5;');
  const components = await componentsOf(flow);
  await hw.api('POST', `/workflows/${flow.id}/deploy`, { deployment_id: await deploymentOf(flow, 2) });
  await pass(0.9);
  expect(await numbers(flow)).toEqual([1, 2, 3, 4, 5]);
  await pass(1.1);
  expect(await numbers(flow)).toEqual([2, 4, 5]);
  expect((await areThere(components)).toSorted()).toEqual([1, 3, 4].map((i) => components[i] as string).toSorted());
  await hw.api('POST', `/workflows/${flow.id}/run`);
  expect((await untilExecutions(hw.sql, flow.id, 1))[0]?.steps[0]?.value).toBe(2);
});

test('a component that something else names, or that has a key, stays', async () => {
  const keyed = { namespace: 'b', component_code: action('').replace('name:', 'key: "own-step", name:') };
  const saved = await hw.api('POST', '/components', { component_code: action('return "saved";') });
  const steps = [code('return 1;'), keyed, { namespace: 'c', component_id: saved.data.id }, code('', 'd')];
  const flow = await makeWorkflow(hw, { steps });
  const [shared, ofKey, explicit, own] = (await componentsOf(flow)) as [string, string, string, string];
  await makeWorkflow(hw, { steps: [{ namespace: 'x', component_id: shared }] });
  for (const body of ['2', '3']) await hw.api('PUT', `/workflows/${flow.id}`, { steps: [code(`return ${body};`)] });
  await pass(1.1);
  expect(await numbers(flow)).toEqual([2, 3]);
  expect((await areThere([shared, ofKey, explicit, own])).toSorted()).toEqual([shared, ofKey, explicit].toSorted());
});

test('a refused workflow or update leaves no code behind, unless the code has a key', async () => {
  const flow = await versions('return 1;');
  const codeOfSteps = () => hw.sql`select id from components where of_step and key is null order by id`;
  const before = await codeOfSteps();
  const keyed = { namespace: 'k', component_code: action('').replace('name:', 'key: "kept", name:') };
  const unknown = { namespace: 'z', component_key: 'nobody-has-this' };
  const failing = `export default { name: 'S', version: '1', hooks: { deploy() { throw new Error('no'); } }, run() {} };`;
  for (const refused of [
    { steps: [code('return 2;'), keyed, unknown] },
    { steps: [code('return 2;'), { ...code('', 'b'), props: { text: '{{env.NOWHERE}}' } }, unknown] },
    { steps: [code('return 3;')], triggers: [{ component_code: failing }] },
  ]) {
    expect((await hw.api('POST', '/workflows', refused)).status).toBeGreaterThanOrEqual(400);
    expect((await hw.api('PUT', `/workflows/${flow.id}`, refused)).status).toBeGreaterThanOrEqual(400);
  }
  expect(await codeOfSteps()).toEqual(before);
  expect((await hw.api('GET', '/components/kept')).status).toBe(200);
});

test('the code of the steps goes with the workflow', async () => {
  const flow = await versions('return 1;', 'return 2;');
  const components = await componentsOf(flow);
  expect((await hw.api('DELETE', `/workflows/${flow.id}`)).status).toBe(204);
  expect(await areThere(components)).toEqual([]);
});

test('an execution that waits, or was left in the middle, keeps its version until it has ended and is old', async () => {
  const flow = await versions('$.flow.suspend();', 'return 2;', 'return 3;', 'return 4;', 'return 5;');
  const first = await deploymentOf(flow, 1);
  await hw.api('POST', `/workflows/${flow.id}/deploy`, { deployment_id: first });
  await hw.api('POST', `/workflows/${flow.id}/run`);
  const [waiting] = await untilExecutions(hw.sql, flow.id, 1, ['waiting']);
  await hw.api('POST', `/workflows/${flow.id}/deploy`, { deployment_id: flow.deployment_id });
  const left = newId('execution');
  const second = await deploymentOf(flow, 2);
  await hw.sql`
    insert into execution_steps (execution_id, position, account_id, deployment_id, namespace, status, runs, exports, logs,
      started_at, ended_at)
    values (${left}, 0, ${hw.accountId}, ${second}, 'a', 'done', 1, '{}', '[]', now(), now())`;
  await hw.api('PUT', `/workflows/${flow.id}`, { active: false });
  await hw.sql`
    insert into invocations (id, account_id, source_id, kind, event, attempts, place)
    values (${left}, ${hw.accountId}, ${flow.id}, 'manual', '{}', 1, 1)`;
  await pass(1.1);
  expect(await numbers(flow)).toEqual([1, 2, 4, 5]);
  await hw.api('POST', `/executions/${waiting?.id}/cancel`);
  await hw.sql`delete from invocations where id = ${left}`;
  await pass(1.1);
  expect(await numbers(flow)).toEqual([4, 5]);
});

test('a waiting execution keeps its version, even if it began after the version was noted as unused', async () => {
  const flow = await versions('$.flow.suspend();', 'return 2;', 'return 3;', 'return 4;');
  const first = await deploymentOf(flow, 1);
  await hw.api('POST', `/workflows/${flow.id}/deploy`, { deployment_id: first });
  await hw.api('POST', `/workflows/${flow.id}/run`);
  const [waiting] = await untilExecutions(hw.sql, flow.id, 1, ['waiting']);
  await hw.api('POST', `/workflows/${flow.id}/deploy`, { deployment_id: flow.deployment_id });
  // As a node would leave it that knows nothing of such notes.
  await hw.sql`update deployments set unused_since = now() - interval '9 days' where workflow_id = ${flow.id as string}`;
  await pass(0);
  expect(await numbers(flow)).toEqual([1, 3, 4]);
  await hw.api('POST', `/executions/${waiting?.id}/cancel`);
});

test('a version that has deployed a source stays, so that the source goes with the workflow', async () => {
  const triggers = [{ component_code: PASS_ON }];
  const flow = await makeWorkflow(hw, { triggers, steps: [code('return 1;')] });
  const sourceId = flow.triggers[0].source_id as string;
  for (const n of [2, 3, 4])
    await hw.api('PUT', `/workflows/${flow.id}`, { triggers: [], steps: [code(`return ${n};`)] });
  await pass(1.1);
  expect(await numbers(flow)).toEqual([1, 3, 4]);
  await hw.api('DELETE', `/workflows/${flow.id}`);
  expect((await hw.api('GET', `/sources/${sourceId}`)).status).toBe(404);
});

test('a replay of a version that is gone is refused with the reason, and one that is accepted runs', async () => {
  const flow = await versions('return 1;', 'return 2;', 'return 3;');
  await hw.api('POST', `/workflows/${flow.id}/deploy`, { deployment_id: await deploymentOf(flow, 1) });
  for (let n = 0; n < 8; n++) await hw.api('POST', `/workflows/${flow.id}/run`);
  const executions = await untilExecutions(hw.sql, flow.id, 8);
  await hw.api('POST', `/workflows/${flow.id}/deploy`, { deployment_id: flow.deployment_id });
  const replays = executions.map(({ id }) => hw.api('POST', `/executions/${id}/replay`));
  const [answers] = await Promise.all([Promise.all(replays), pass(1.1)]);
  const accepted = answers.filter(({ status }) => status === 200).map(({ data }) => data.execution_id as string);
  for (const { status, text } of answers.filter((one) => one.status !== 200))
    expect([status, text]).toEqual([expect.toBeOneOf([404, 409]), expect.stringMatching(/was deleted|No execution/)]);
  await hw.untilIdle();
  // Those that have ended may be old already.
  const failed =
    await hw.sql`select error from executions where id = any(${accepted}::text[]) and status <> 'succeeded'`;
  expect(failed).toEqual([]);

  const other = await versions('return 1;', 'return 2;');
  await hw.api('POST', `/workflows/${other.id}/run`);
  const [execution] = await untilExecutions(hw.sql, other.id, 1);
  await hw.sql`delete from deployments where id = ${other.deployment_id}`;
  const refused = await hw.api('POST', `/executions/${execution?.id}/replay`);
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('deployment=newest')]);
});
