import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEventSource } from '../../support/event-source.ts';
import { idTimeMs } from '../../../shared/src/index.ts';
import { eventually } from '../../support/eventually.ts';
import { type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import type { Json } from '../../support/json.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await sharedHeadwater();
});
afterAll(() => hw.stop());

const action = (run: string) => `export default { name: 'Step', version: '1', type: 'action', ${run} };`;

const FIRST = action(`props: { text: { type: 'string' } },
  run({ $ }) { console.log('first', this.text); $.export('n', 1); $.export('$summary', 'did it'); return { text: this.text, big: 2n ** 60n > 0 }; }`);
const SECOND = action(`async run({ steps, $ }) {
  const { body } = steps.trigger.event;
  if (body.emit) { $.send.emit({ name: 'out', raw_event: { n: body.n } }); $.send.sse({ channel: 'live', payload: { n: body.n } }); }
  if (body.delay) return $.flow.delay(body.delay);
  if (body.exit) return $.flow.exit(body.exit);
  if (body.fail) { console.warn('about to'); throw new Error('asked to'); }
  return 'x'.repeat(body.size ?? 1);
}`);

async function deploy(): Promise<{ id: string; url: string }> {
  const { data, text } = await hw.api('POST', '/workflows', {
    name: 'Flow',
    triggers: [{ type: 'http' }],
    steps: [
      { namespace: 'first', component_code: FIRST, props: { text: '{{steps.trigger.event.body.text}}' } },
      { namespace: 'second', component_code: SECOND },
    ],
  });
  if (data?.id === undefined) throw new Error(text);
  return { id: data.id, url: data.triggers[0].endpoint_url };
}

const post = (url: string, body: object) =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'hello', ...body }),
  });

const list = async (id: string, parameters = {}): Promise<Json> =>
  JSON.parse((await hw.api('GET', `/workflows/${id}/executions`, { limit: 100, ...parameters })).text);

async function untilEnded(id: string, count: number): Promise<Json[]> {
  return eventually(async () => {
    const { data } = await list(id);
    return data.length >= count && data.every(({ ended_at: at }: Json) => at !== null) && data;
  });
}

test('an execution shows its trigger and, by namespace, results, exports and logs of each step', async () => {
  const flow = await deploy();
  await post(flow.url, { n: 1 });
  const [{ id }] = await untilEnded(flow.id, 1);
  const { data } = await hw.api('GET', `/executions/${id}`);
  expect(data).toMatchObject({
    id: expect.stringMatching(/^exec_/),
    workflow_id: flow.id,
    deployment_id: expect.stringMatching(/^d_/),
    status: 'succeeded',
    kind: 'http',
    trace_id: id,
    caused_by: null,
    replay_of: null,
    trigger: { event: { method: 'POST', body: { text: 'hello', n: 1 } }, event_truncated: false, context: { id } },
    error: null,
    wait: null,
  });
  expect(Object.keys(data.steps)).toEqual(['first', 'second']);
  expect(data.steps.first).toMatchObject({
    status: 'done',
    runs: 1,
    $return_value: { text: 'hello', big: true },
    exports: { n: 1, $summary: 'did it' },
    logs: [{ level: 'info', message: 'first hello' }],
    error: null,
  });
  const { first, second } = data.steps;
  expect(data.started_at).toBeLessThanOrEqual(first.started_at);
  expect(first.ended_at).toBeLessThanOrEqual(second.started_at);
  expect(second.ended_at).toBeLessThanOrEqual(data.ended_at);
});

test('the list has the steps too, and marks long values', async () => {
  const flow = await deploy();
  await post(flow.url, { size: 2_000, text: 'y'.repeat(900) });
  const [execution] = await untilEnded(flow.id, 1);
  expect(Object.keys(execution.steps)).toEqual(['first', 'second']);
  expect(execution.steps.first).toMatchObject({
    $return_value: { big: true },
    exports: { n: 1 },
    logs: [{ level: 'info' }],
  });
  expect(execution.steps.second).toMatchObject({
    $return_value: `"${'x'.repeat(1_023)}`,
    truncated: ['$return_value'],
  });
  await post(flow.url, { text: 'y'.repeat(2_000) });
  const [chatty] = await untilEnded(flow.id, 2);
  expect(chatty.steps.first).toMatchObject({ logs: [], truncated: ['$return_value', 'logs'] });
  const { data } = await hw.api('GET', `/executions/${chatty.id}`);
  expect(data.steps.first.logs).toHaveLength(1);
});

test('a step that fails, or ends the workflow, is shown with its reason', async () => {
  const flow = await deploy();
  await post(flow.url, { fail: true });
  const [failed] = await untilEnded(flow.id, 1);
  expect(failed).toMatchObject({
    status: 'failed',
    error: { code: 'COMPONENT_ERROR', message: 'asked to', namespace: 'second' },
  });
  const { data } = await hw.api('GET', `/executions/${failed.id}`);
  expect(data.steps.second).toMatchObject({ status: 'failed', logs: [{ level: 'warn', message: 'about to' }] });
  await post(flow.url, { exit: 'enough' });
  const [exited] = await untilEnded(flow.id, 2);
  expect(exited).toMatchObject({ status: 'exited', reason: 'enough', error: null });
  const errors = await hw.api('GET', `/workflows/${flow.id}/$errors/event_summaries`, { expand: 'event' });
  expect(errors.data).toMatchObject([
    { event: { error: { message: 'asked to' }, original_event: { body: { fail: true } } } },
  ]);
});

test('the list has queued, running, waiting and ended executions in one order, in pages, by status', async () => {
  const flow = await deploy();
  for (let n = 1; n <= 3; n++) await post(flow.url, { n });
  await untilEnded(flow.id, 3);
  await post(flow.url, { n: 4, delay: 600_000 });
  await eventually(async () => (await list(flow.id, { status: 'waiting' })).data.length === 1);
  expect(await (await fetch(`${hw.url}/metrics`)).text()).toContain('\nheadwater_executions_waiting 1\n');
  // As other nodes hold them.
  await hw.sql`
    insert into invocations (id, account_id, source_id, kind, event, leased_by)
    select x.id, ${hw.accountId}, ${flow.id}, 'manual', '{"n":9}', x.node from (values
      ('exec_zzzzzzzz000000000001', null), ('exec_zzzzzzzz000000000002', (select id from nodes limit 1))) as x(id, node)`;
  const all = await list(flow.id);
  expect(all.page_info).toMatchObject({ total_count: 6, count: 6 });
  expect(all.data.map(({ status }: Json) => status)).toEqual([
    'running',
    'queued',
    'waiting',
    'succeeded',
    'succeeded',
    'succeeded',
  ]);
  const ids = all.data.map(({ id }: Json) => id);
  expect(ids).toEqual(ids.toSorted((a: string, b: string) => (a < b ? 1 : -1)));
  expect(all.data[2].wait).toMatchObject({ kind: 'delay', until: expect.any(Number) });
  const page = await list(flow.id, { limit: 2, after: ids[0] });
  expect(page.data.map(({ id }: Json) => id)).toEqual(ids.slice(1, 3));
  const up = await list(flow.id, { limit: 2, before: page.page_info.end_cursor });
  expect(up.data.map(({ id }: Json) => id)).toEqual(ids.slice(0, 2));
  for (const status of ['queued', 'running', 'waiting', 'succeeded']) {
    const some = await list(flow.id, { status });
    expect(some.data.every((one: Json) => one.status === status)).toBe(true);
    expect(some.page_info.total_count).toBe(some.data.length);
    expect(some.data.length).toBe(status === 'succeeded' ? 3 : 1);
  }
  const { data: queued } = await hw.api('GET', `/executions/${ids[1]}`);
  expect(queued).toMatchObject({
    status: 'queued',
    started_at: null,
    steps: {},
    trigger: { event: { n: 9 }, context: null },
  });
  const several = await list(flow.id, { status: 'waiting,queued' });
  expect(several.data.map(({ status }: Json) => status)).toEqual(['queued', 'waiting']);
  expect(several.page_info).toMatchObject({ total_count: 2 });
  // By the time that is in their ids; those of other nodes are of a time to come.
  const madeMs = idTimeMs(ids[3]) ?? 0;
  expect((await list(flow.id, { since_ms: madeMs, until_ms: madeMs + 1 })).data.map(({ id }: Json) => id)).toContain(
    ids[3],
  );
  const before = await list(flow.id, { until_ms: madeMs, status: 'succeeded' });
  expect(before.page_info.total_count).toBe(before.data.length);
  expect(before.data.every(({ id }: Json) => (idTimeMs(id) ?? 0) < madeMs)).toBe(true);
  const later = await list(flow.id, { since_ms: Date.now() + 60_000, limit: 1 });
  expect([later.data.map(({ id }: Json) => id), later.page_info.total_count]).toEqual([[ids[0]], 2]);
  await hw.sql`delete from invocations where id like 'exec_zzzzzzzz%'`;
  for (const bad of [{ after: 'x' }, { status: 'odd' }]) {
    expect((await hw.api('GET', `/workflows/${flow.id}/executions`, bad)).status).toBe(400);
  }
  const unknown = await hw.api('GET', `/workflows/${flow.id}/executions`, { status: 'waiting,done' });
  expect([unknown.status, JSON.parse(unknown.text).detail]).toEqual([400, expect.stringMatching(/"done".*succeeded/)]);
});

test('long values are cut and marked, and whole when they are expanded', async () => {
  const flow = await deploy();
  await post(flow.url, { size: 100_000, pad: 'p'.repeat(2000) });
  const [{ id, trigger }] = await untilEnded(flow.id, 1);
  expect(trigger).toMatchObject({ event_truncated: true, event: expect.stringMatching(/^\{/) });
  const cut = (await hw.api('GET', `/executions/${id}`)).data.steps.second;
  expect(cut.truncated).toEqual(['$return_value']);
  expect(cut.$return_value).toMatch(/^"x{1023}$/);
  const whole = (await hw.api('GET', `/executions/${id}`, { expand: 'exports' })).data;
  expect(whole.steps.second.$return_value).toBe('x'.repeat(100_000));
  expect(whole.trigger.event.body.pad).toHaveLength(2000);
});

test('events of a workflow are listed, streamed and deleted like those of a source', async () => {
  const flow = await deploy();
  const follow = (query = '') => openEventSource(`${hw.url}/v1/workflows/${flow.id}/sse${query}`, hw.apiKey);
  const [stream, live] = [await follow(), await follow('?channel=live')];
  await post(flow.url, { emit: true, n: 1 });
  await post(flow.url, { emit: true, n: 2 });
  await eventually(() => stream.messages.length === 4 && live.messages.length === 2);
  const by = (name: string) => stream.messages.filter(({ event }) => event === name).map(({ data }) => data);
  expect(by('live').map(({ n }) => n)).toEqual(live.messages.map(({ data }) => data.n));
  expect(
    by('out')
      .map(({ event }) => event.n)
      .toSorted((a, b) => a - b),
  ).toEqual([1, 2]);
  stream.close();
  live.close();
  const { data } = await hw.api('GET', `/workflows/${flow.id}/event_summaries`);
  expect(data.toReversed()).toEqual(by('out'));
  expect((await hw.api('DELETE', `/workflows/${flow.id}/events`)).status).toBe(202);
  expect((await hw.api('GET', `/workflows/${flow.id}/events`)).data).toEqual([]);
  expect((await hw.api('GET', `/sources/${flow.id}/events`)).status).toBe(404);
});

test('log lines of executions are streamed when they end, with their steps, and followed without loss', async () => {
  const flow = await deploy();
  await post(flow.url, { text: 'one' });
  await untilEnded(flow.id, 1);
  const url = `${hw.url}/v1/workflows/${flow.id}/logs`;
  const stream = await openEventSource(url, hw.apiKey);
  await eventually(() => stream.messages.length === 1);
  await post(flow.url, { text: 'two', fail: true });
  await eventually(() => stream.messages.length === 4);
  const events = stream.messages.map(({ data }) => data.event);
  expect(events).toMatchObject([
    { level: 'info', message: 'first one', step: 'first' },
    { level: 'info', message: 'first two', step: 'first' },
    { level: 'warn', message: 'about to', step: 'second' },
    { level: 'error', code: 'COMPONENT_ERROR', step: 'second' },
  ]);
  stream.close();
  const again = await openEventSource(url, hw.apiKey, stream.messages[1]?.id);
  await eventually(() => again.messages.length === 2);
  expect(again.messages).toEqual(stream.messages.slice(2));
  again.close();
  const { data } = await hw.api('GET', `/workflows/${flow.id}/$logs/event_summaries`);
  expect(data.toReversed()).toEqual(stream.messages.map((message) => message.data));
});

test('a trace goes through the steps of a workflow to the listeners of its events', async () => {
  const flow = await deploy();
  const source = await hw.deploy(
    `export default { name: 'Start', version: '1', props: { http: '$.interface.http' }, run({ body }) { this.$emit({ body }); } };`,
  );
  const after = await hw.deploy(`export default { name: 'After', version: '1', run() { console.log('heard'); } };`);
  for (const [emitter_id, listener_id, event_name] of [
    [source.id, flow.id, ''],
    [flow.id, after.id, 'out'],
  ]) {
    expect((await hw.api('POST', '/subscriptions', { emitter_id, listener_id, event_name })).status).toBe(200);
  }
  await post(source.endpoint, { emit: true, n: 7 });
  const tree = await eventually(async () => {
    const { data: events } = await hw.api('GET', `/sources/${source.id}/event_summaries`);
    const { data } = await hw.api('GET', `/traces/${events[0].metadata.trace_id}`);
    const execution = data?.runs[0]?.events[0]?.listeners[0]?.run;
    return execution?.events[0]?.listeners[0]?.run?.logs.length === 1 && data;
  });
  const [root] = tree.runs;
  const execution = root.events[0].listeners[0].run;
  expect(root).toMatchObject({ type: 'run', emitter_id: source.id });
  expect(execution).toMatchObject({
    type: 'execution',
    emitter_id: flow.id,
    emitter_name: 'Flow',
    kind: 'event',
    status: 'succeeded',
    caused_by: root.events[0].emit_id,
    steps: [
      { namespace: 'first', status: 'done', logs: [{ level: 'info' }] },
      { namespace: 'second', status: 'done' },
    ],
  });
  expect(execution.ran_ms).toBeGreaterThanOrEqual(0);
  expect(execution.events[0].listeners).toMatchObject([{ listener_id: after.id, outcome: 'run' }]);
  expect((await hw.api('GET', `/traces/${execution.id}`)).data).toEqual(tree);
});

test('executions, events and streams of another account are not there', async () => {
  const flow = await deploy();
  await post(flow.url, {});
  const [{ id }] = await untilEnded(flow.id, 1);
  const key = (await hw.admin('POST', '/accounts', { name: 'Other' })).data.api_key;
  const other = hw.as(key);
  const paths = [
    `/executions/${id}`,
    `/workflows/${flow.id}/executions`,
    `/workflows/${flow.id}/event_summaries`,
    `/workflows/${flow.id}/$errors/event_summaries`,
    `/workflows/${flow.id}/$logs/event_summaries`,
    `/workflows/${flow.id}/sse`,
    `/workflows/${flow.id}/logs`,
    `/traces/${id}`,
    '/executions/exec_nothing',
    '/executions/%00',
  ];
  for (const path of paths) expect([path, (await other('GET', path)).status]).toEqual([path, 404]);
  expect((await other('DELETE', `/workflows/${flow.id}/events`)).status).toBe(404);
});
