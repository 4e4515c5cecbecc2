import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { action, untilExecutions } from '../../support/executions.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { post } from '../../support/server.ts';
import { makeWorkflow, type Workflow } from '../../support/workflow-steps.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw?.stop());

/** Answers what started it. */
const SEEN = { namespace: 'seen', component_code: action('return steps.trigger;') };
const seenBy = async ({ id }: Workflow, count = 1) =>
  (await untilExecutions(hw.sql, id, count)).map(
    ({ steps }) => steps[0]?.value as { event: unknown; context: Record<string, unknown> },
  );
const subscribe = (emitterId: string, listenerId: string, eventName: string) =>
  hw.api('POST', '/subscriptions', { emitter_id: emitterId, listener_id: listenerId, event_name: eventName });

test('a request is one event, with the six fields, its URL, its query as sent and the client’s address', async () => {
  const flow = await makeWorkflow(hw, { name: 'Requests', triggers: [{ type: 'http' }], steps: [SEEN] });
  const [{ id: triggerId, endpoint_url: url }] = flow.triggers;
  const body = new URLSearchParams({ a: '1', b: 'two' });
  expect((await fetch(`${url}/a/b?x=1`, { method: 'PUT', body })).status).toBe(200);
  const [seen] = await seenBy(flow);
  expect(seen?.event).toEqual({
    method: 'PUT',
    path: '/a/b',
    query: { x: '1' },
    headers: expect.objectContaining({ 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }),
    client_ip: '127.0.0.1',
    url: `${url}/a/b?x=1`,
    rawQuery: 'x=1',
    bodyRaw: 'a=1&b=two',
    body: { a: '1', b: 'two' },
  });
  const { trace_id: trace, id, ts, ...context } = seen?.context ?? {};
  expect(trace).toBe(id);
  expect(new Date(ts as string).toISOString()).toBe(ts);
  expect(context).toEqual({
    workflow_id: flow.id,
    workflow_name: 'Requests',
    deployment_id: flow.deployment_id,
    emitter_id: triggerId,
    owner_id: hw.accountId,
    replay: false,
    platform_version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  });
});

test('a timer is one event for each tick', async () => {
  const flow = await makeWorkflow(hw, { triggers: [{ type: 'timer', interval_seconds: 2 }], steps: [SEEN] });
  const seen = await seenBy(flow, 2);
  await hw.api('PUT', `/workflows/${flow.id}`, { active: false });
  const ticks = seen.map(({ event }) => event as { timestamp: number; interval_seconds: number });
  expect(ticks.map(({ interval_seconds: seconds }) => seconds)).toEqual(ticks.map(() => 2));
  expect(new Set(ticks.map(({ timestamp }) => timestamp)).size).toBe(ticks.length);
  expect(seen[0]?.context).toMatchObject({ emitter_id: flow.triggers[0].id });
});

test('events of a source deployed with the workflow start it, in the trace of the request', async () => {
  const flow = await makeWorkflow(hw, {
    triggers: [
      {
        component_code: `export default { name: 'Doubling', version: '1', dedupe: 'unique', props: { http: '$.interface.http' },
          run({ body: { n } }) { this.$emit({ twice: n * 2 }, { id: n, summary: String(n) }); } };`,
      },
    ],
    steps: [SEEN],
  });
  const { data: source } = await hw.api('GET', `/sources/${flow.triggers[0].source_id}`);
  for (const n of [1, 1, 2]) {
    await post(source.configured_props.http.endpoint_url as string, { n });
    await hw.untilIdle();
  }
  const seen = await seenBy(flow, 2);
  expect(seen.map(({ event }) => event)).toEqual([{ twice: 2 }, { twice: 4 }]);
  const { data: events } = await hw.api('GET', `/sources/${source.id}/event_summaries`);
  expect(seen.map(({ context }) => context['trace_id'])).toEqual(
    events.map(({ metadata }: { metadata: { trace_id: string } }) => metadata.trace_id).toReversed(),
  );
  const { data: trace } = await hw.api('GET', `/traces/${seen[1]?.context['trace_id'] as string}`);
  expect(trace.runs[0]).toMatchObject({
    type: 'run',
    events: [{ listeners: [{ listener_id: flow.id, outcome: 'run', run: { type: 'execution' } }] }],
  });
});

test('a workflow that is subscribed to $errors gets the failures of others, with their events', async () => {
  const watcher = await makeWorkflow(hw, { name: 'Watcher', steps: [SEEN] });
  const failing = await makeWorkflow(hw, {
    name: 'Failing',
    steps: [
      { namespace: 'fine', component_code: action('$.export("so_far", 1);') },
      { namespace: 'breaks', component_code: action('$.export("half", 2); throw new TypeError("no such order");') },
    ],
  });
  const source = await hw.deploy(
    `export default { name: 'Breaks', version: '1', run() { throw new Error('source'); } };`,
  );
  for (const id of ['p_*', source.id]) expect((await subscribe(id, watcher.id, '$errors')).status).toBe(200);
  const { data: run } = await hw.api('POST', `/workflows/${failing.id}/run`, { event: { order: 7 } });
  await hw.api('POST', `/sources/${source.id}/run`, { event: {} });
  const seen = await seenBy(watcher, 2);
  const ofWorkflow = seen.find(({ context }) => context['emitter_id'] === failing.id);
  expect(ofWorkflow?.event).toMatchObject({
    error: {
      code: 'COMPONENT_ERROR',
      message: expect.stringContaining('no such order'),
      stack: expect.stringContaining('component.mjs'),
      ts: expect.any(Number),
      cellId: failing.steps[1].id,
      namespace: 'breaks',
    },
    original_event: { order: 7 },
    original_context: { id: run.execution_id, workflow_id: failing.id, workflow_name: 'Failing' },
  });
  expect(seen.find(({ context }) => context['emitter_id'] === source.id)?.event).toMatchObject({
    error: { message: expect.stringContaining('source') },
  });
  const { data: execution } = await hw.api('GET', `/executions/${run.execution_id}`);
  expect(execution).toMatchObject({ status: 'failed', steps: { breaks: { exports: { half: 2 } } } });
  const { data: records } = await hw.api('GET', `/workflows/${failing.id}/$errors/event_summaries`, {
    expand: 'event',
  });
  expect(records).toMatchObject([{ event: ofWorkflow?.event }]);
});

test('a workflow that watches all workflows and fails itself does not start itself', async () => {
  const watcher = await makeWorkflow(hw, {
    name: 'Bad watcher',
    steps: [{ namespace: 'a', component_code: action('throw new Error("watcher");') }],
  });
  expect((await subscribe('p_*', watcher.id, '$errors')).status).toBe(200);
  await hw.api('POST', `/workflows/${watcher.id}/run`);
  await untilExecutions(hw.sql, watcher.id, 1);
  await hw.untilIdle();
  expect(await untilExecutions(hw.sql, watcher.id, 1)).toHaveLength(1);
  await hw.api('DELETE', `/workflows/${watcher.id}`);
});

test('an auto-subscribed workflow gets the events of each emitter made from now on', async () => {
  const listener = await makeWorkflow(hw, { name: 'Listener', steps: [SEEN] });
  expect((await hw.api('POST', '/auto_subscriptions', { listener_id: listener.id, event_name: '' })).status).toBe(200);
  const emits = { namespace: 'emits', component_code: action('$.send.emit({ from: "a workflow" });') };
  const flow = await makeWorkflow(hw, { name: 'Later', triggers: [{ type: 'http' }], steps: [emits] });
  await post(flow.triggers[0].endpoint_url as string, {});
  const seen = await seenBy(listener);
  expect(seen).toMatchObject([{ event: { from: 'a workflow' }, context: { emitter_id: flow.id } }]);
  await eventually(async () => (await hw.api('DELETE', `/workflows/${listener.id}`)).status === 204);
});
