import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/database.ts';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';
import { startReceiver } from '../../support/receiver.ts';
import { killNode, post, startServer } from '../../support/server.ts';
import { makeWorkflow, PASS_ON, type Workflow } from '../../support/workflow-steps.ts';
import type { Json } from '../../support/json.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater();
});
afterAll(() => hw?.stop());

/** Returns the emitter in `$.context`, and the event. */
const SEEN = { namespace: 'seen', component_code: action('return [$.context.emitter_id, steps.trigger.event];') };
const TWO_ENDPOINTS = [{ type: 'http' }, { type: 'http' }];

/** Emitter and event of each execution. */
const seenBy = async ({ id }: Workflow, count: number) =>
  (await untilExecutions(hw.sql, id, count)).map(({ steps }) => steps.at(-1)?.value as [string | null, Json]);

const emitterOf = (id: string) => hw.sql<{ emitter: string }[]>`
  select context::jsonb ->> 'emitter_id' as emitter from executions where id = ${id}`;

async function cancelledOf(id: string): Promise<string | undefined> {
  const { data } = await hw.api('GET', `/workflows/${id}/executions`);
  const executionId = data[0]?.id as string;
  expect((await hw.api('POST', `/executions/${executionId}/cancel`)).status).toBeLessThan(300);
  return (await emitterOf(executionId))[0]?.emitter;
}

for (const settings of [{}, { concurrency: 1 }])
  test(`two endpoints: the one with the request is named, with the settings ${JSON.stringify(settings)}`, async () => {
    const flow = await makeWorkflow(hw, { triggers: TWO_ENDPOINTS, steps: [SEEN], settings });
    for (const { endpoint_url: url, id } of flow.triggers) await post(url as string, { id });
    const seen = await seenBy(flow, 2);
    expect(seen.map(([emitter]) => emitter)).toEqual(seen.map(([, event]) => event.body.id));
    expect(new Set(seen.map(([emitter]) => emitter)).size).toBe(2);
  });

test('two timers: the one with the tick is named', async () => {
  const triggers = [1, 2].map((seconds) => ({ type: 'timer', interval_seconds: seconds }));
  const flow = await makeWorkflow(hw, { triggers, steps: [SEEN] });
  const seen = await seenBy(flow, 4);
  await hw.api('PUT', `/workflows/${flow.id}`, { active: false });
  const idOf = new Map(flow.triggers.map((one: Workflow) => [one.interval_seconds, one.id]));
  expect(seen.map(([emitter]) => emitter)).toEqual(seen.map(([, event]) => idOf.get(event.interval_seconds)));
  expect(new Set(seen.map(([emitter]) => emitter)).size).toBe(2);
});

test('several sources and a subscribed workflow: the emitter of the event is named', async () => {
  const sources = [await hw.deploy(PASS_ON), await hw.deploy(PASS_ON)];
  const emits = { namespace: 'emits', component_code: action('$.send.emit(steps.trigger.event);') };
  const emitter = await makeWorkflow(hw, { steps: [emits] });
  const triggers = [...TWO_ENDPOINTS, ...sources.map(({ id }) => ({ source_id: id }))];
  const flow = await makeWorkflow(hw, { triggers, steps: [SEEN] });
  await hw.api('POST', '/subscriptions', { emitter_id: emitter.id, listener_id: flow.id });
  const ids = [...sources.map(({ id }) => id), emitter.id as string];
  for (const id of ids)
    await hw.api('POST', `/${id.startsWith('p_') ? 'workflows' : 'sources'}/${id}/run`, { event: { from: id } });
  const seen = await seenBy(flow, 3);
  expect(new Set(seen.map(([id]) => id))).toEqual(new Set(ids));
  expect(seen.map(([id]) => id)).toEqual(seen.map(([, event]) => event.from));
});

test('an execution started by hand has no emitter', async () => {
  const flow = await makeWorkflow(hw, { triggers: [{ type: 'http' }], steps: [SEEN] });
  await hw.api('POST', `/workflows/${flow.id}/run`);
  expect(await seenBy(flow, 1)).toEqual([[null, {}]]);
});

test('a replay, and an execution cancelled before it began, name it too', async () => {
  const flow = await makeWorkflow(hw, { triggers: TWO_ENDPOINTS, steps: [SEEN] });
  const second = flow.triggers[1] as { id: string; endpoint_url: string };
  await post(second.endpoint_url, {});
  const [execution] = await untilExecutions(hw.sql, flow.id, 1);
  const { data } = await hw.api('POST', `/executions/${execution?.id}/replay`);
  await untilExecutions(hw.sql, flow.id, 2);
  expect(await emitterOf(data.execution_id as string)).toEqual([{ emitter: second.id }]);

  const settings = { throttle: { limit: 0, interval_seconds: 60 } };
  const paused = await makeWorkflow(hw, { triggers: TWO_ENDPOINTS, steps: [SEEN], settings });
  await post(paused.triggers[1].endpoint_url as string, {});
  expect(await cancelledOf(paused.id as string)).toBe(paused.triggers[1].id);
});

test('another node that takes over after a crash knows it', async () => {
  const database = await createTestDatabase();
  const receiver = await startReceiver();
  receiver.answer = { delayMs: 60_000 };
  const steps = [
    { namespace: 'asks', component_code: action(`await fetch("${receiver.url}");`) },
    { namespace: 'seen', component_code: action('return $.context.emitter_id;') },
  ];
  const first = await startServer({ databaseUrl: database.url });
  const { body } = await first.api('POST', '/workflows', { triggers: TWO_ENDPOINTS, steps });
  const { id, triggers } = body.data as Workflow;
  await post(triggers[1].endpoint_url as string, {});
  await eventually(() => receiver.requests.length === 1);
  await killNode(first, database.db.sql);
  expect(await database.db.sql`select from execution_steps`).toHaveLength(0);

  receiver.answer = {};
  const second = await startServer({ databaseUrl: database.url });
  const [execution] = await untilExecutions(database.db.sql, id as string, 1);
  expect(execution?.steps[1]?.value).toBe(triggers[1].id);
  await second.stop();
  await receiver.stop();
  await database.drop();
});
