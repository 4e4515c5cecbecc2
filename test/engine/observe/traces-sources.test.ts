import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DeployedSource, type Headwater, sharedHeadwater } from '../../support/headwater.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import type { Json } from '../../support/json.ts';

let hw: Headwater;
let receiver: Receiver;
beforeAll(async () => {
  hw = await sharedHeadwater();
  receiver = await startReceiver();
});
afterAll(async () => {
  await hw.stop();
  await receiver.stop();
});

/** Emits what the request's body lists, on the channels that it names. */
const EMITTER = `export default { name: 'Emitter', version: '1', dedupe: 'unique', props: { http: '$.interface.http' },
  run({ body }) { for (const one of [body].flat()) this.$emit(one, { id: one.id, name: one.channel, summary: one.id }); } };`;
const ECHO = `export default { name: 'Echo', version: '1', run(event) { this.$emit({ heard: event }); } };`;
const QUIET = `export default { name: 'Quiet', version: '1', run() {} };`;
const LOUD = `export default { name: 'Loud', version: '1', run() { console.log('heard it'); throw new Error('no'); } };`;

const post = (source: DeployedSource, body: unknown) =>
  fetch(source.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

async function subscribe(emitterId: string, listenerId: string, eventName = ''): Promise<void> {
  const key = { emitter_id: emitterId, listener_id: listenerId, event_name: eventName };
  expect((await hw.api('POST', '/subscriptions', key)).status).toBe(200);
}

async function webhook(name: string): Promise<string> {
  return (await hw.api('POST', '/webhooks', { url: `${receiver.url}/${name}`, name, description: '' })).data.id;
}

async function traceOf(source: DeployedSource): Promise<Json> {
  await hw.untilIdle();
  const { data: events } = await hw.api('GET', `/sources/${source.id}/event_summaries`);
  return (await hw.api('GET', `/traces/${events[0].metadata.trace_id}`)).data;
}

test('a trace is a tree from the request to the deliveries and the runs of those that listen', async () => {
  const [emitter, echo, quiet, loud] = [
    await hw.deploy(EMITTER),
    await hw.deploy(ECHO),
    await hw.deploy(QUIET),
    await hw.deploy(LOUD),
  ];
  const hook = await webhook('hook');
  for (const id of [echo.id, quiet.id, loud.id, hook]) await subscribe(emitter.id, id);
  await subscribe(echo.id, hook);
  await post(emitter, { id: 'a' });
  await receiver.until(2);
  const trace = await traceOf(emitter);
  expect(trace.truncated).toBe(false);
  expect(trace.runs).toHaveLength(1);
  const [root] = trace.runs;
  expect(root).toMatchObject({
    type: 'run',
    id: trace.id,
    emitter_id: emitter.id,
    emitter_name: 'Emitter',
    status: 'ok',
  });
  for (const time of [root.queued_ms, root.ran_ms]) expect(time).toBeGreaterThanOrEqual(0);
  expect(root.started_at).toBeGreaterThanOrEqual(root.invoked_at);
  const [event] = root.events;
  expect(event).toMatchObject({ name: '', summary: 'a', component_id: 'a', bytes: '{"id":"a"}'.length });
  const by = (id: string) => event.listeners.find((one: Json) => one.listener_id === id);
  expect(by(hook)).toMatchObject({
    outcome: 'delivery',
    listener_name: 'hook',
    delivery: { id: expect.stringMatching(/^dlv_/) },
  });
  expect(by(quiet.id)).toMatchObject({
    outcome: 'run',
    run: { emitter_id: quiet.id, kind: 'event', caused_by: event.emit_id, status: 'ok', logs: [], events: [] },
  });
  expect(by(loud.id).run).toMatchObject({
    status: 'error',
    error: { code: 'COMPONENT_ERROR', message: 'no' },
    logs: [{ level: 'info', message: 'heard it' }],
    events: [{ name: '$errors' }],
  });
  expect(by(echo.id).run.events[0].listeners).toMatchObject([{ listener_id: hook, outcome: 'delivery' }]);
  // The id of any part finds the trace.
  const { data: again } = await hw.api('GET', `/traces/${by(echo.id).run.events[0].emit_id}`);
  expect(again.id).toBe(trace.id);
});

test('attempts of a delivery are in the trace as soon as they are recorded', async () => {
  const emitter = await hw.deploy(EMITTER);
  const hook = await webhook('attempts');
  await subscribe(emitter.id, hook);
  const before = receiver.requests.length;
  await post(emitter, { id: 'a' });
  await receiver.until(before + 1);
  await expect
    .poll(async () => (await traceOf(emitter)).runs[0].events[0].listeners[0].delivery)
    .toMatchObject({ status: 'delivered', attempts: [{ status_code: 200 }], next_attempt_at: null });
});

test('each listener that missed an event is shown with the reason', async () => {
  const [emitter, stopped, other] = [await hw.deploy(EMITTER), await hw.deploy(QUIET), await hw.deploy(QUIET)];
  const hook = await webhook('stopped');
  for (const id of [hook, stopped.id]) await subscribe(emitter.id, id);
  await subscribe(emitter.id, other.id, 'orders');
  await hw.api('PUT', `/webhooks/${hook}`, { active: false });
  await hw.api('PUT', `/sources/${stopped.id}`, { active: false });
  await post(emitter, [{ id: 'a' }, { id: 'b', channel: 'orders' }]);
  await hw.untilIdle();
  // The present state says nothing about the time of the events.
  await hw.api('PUT', `/webhooks/${hook}`, { active: true });
  await hw.api('PUT', `/sources/${stopped.id}`, { active: true });
  const late = await webhook('late');
  await subscribe(emitter.id, late);
  const [root] = (await traceOf(emitter)).runs;
  const reasons = (event: Json) =>
    Object.fromEntries(event.listeners.map((one: Json) => [one.listener_id, one.reason ?? one.outcome]));
  expect(reasons(root.events[0])).toEqual({
    [hook]: 'delivery',
    [stopped.id]: 'paused',
    [other.id]: 'no_such_channel',
  });
  expect(reasons(root.events[1])).toEqual({
    [hook]: 'no_such_channel',
    [stopped.id]: 'no_such_channel',
    [other.id]: 'run',
  });
});

test('emitted events that were known already are counted, by their ids', async () => {
  const emitter = await hw.deploy(EMITTER);
  await post(emitter, [{ id: 'a' }, { id: 'b' }]);
  await hw.untilIdle();
  await post(emitter, [{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'c' }]);
  const [root] = (await traceOf(emitter)).runs;
  expect(root.deduped).toEqual({ count: 3, ids: ['a', 'b', 'c'], strategy: 'unique' });
  expect(root.events.map(({ component_id: id }: Json) => id)).toEqual(['c']);
});

test('a chain that is too long ends in a listener that is there, and says why it did not run', async () => {
  const ring = await hw.deploy(ECHO.replace('run(event)', "props: { http: '$.interface.http' }, run(event)"));
  await subscribe(ring.id, ring.id);
  await hw.limit({ maxEventHops: 3 });
  await post(ring, {});
  const trace = await traceOf(ring);
  await hw.limit({ maxEventHops: null });
  let [run] = trace.runs;
  for (let hop = 1; hop <= 3; hop++) run = run.events[0].listeners[0].run;
  expect(run).toMatchObject({ status: 'error', error: { limit: { name: 'maxEventHops' } } });
  expect(run.events[0].listeners).toMatchObject([{ listener_id: ring.id, outcome: 'missed', reason: 'too_many_hops' }]);
});

test('a long trace is cut, and says so', async () => {
  const emitter = await hw.deploy(EMITTER);
  await post(
    emitter,
    Array.from({ length: 600 }, (_, i) => ({ id: `n${i}` })),
  );
  const trace = await traceOf(emitter);
  expect(trace.truncated).toBe(true);
  expect(trace.runs[0].events).toHaveLength(500);
});

test('a trace of another account, and one of which nothing is left, is not there', async () => {
  const emitter = await hw.deploy(EMITTER);
  await post(emitter, { id: 'a' });
  const { id, runs } = await traceOf(emitter);
  const other = (await hw.admin('POST', '/accounts', { name: 'Other' })).data.api_key;
  for (const name of [id, runs[0].events[0].emit_id, 'inv_nothing', "x' or '1'='1", '%00', 'dc_x-1-1']) {
    expect((await hw.as(other)('GET', `/traces/${encodeURIComponent(name)}`)).status).toBe(404);
  }
});
